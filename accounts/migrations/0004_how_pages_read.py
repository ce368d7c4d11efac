"""How a person reads times, and whether single keys are shortcuts."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0003_saved_views'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='hours',
            field=models.CharField(choices=[('24', '24 hours: 16:21'), ('12', '12 hours: 4:21 pm')], default='24', max_length=2, verbose_name='hours'),
        ),
        migrations.AddField(
            model_name='user',
            name='shortcuts',
            field=models.BooleanField(default=True, help_text='Switch them off if keys are pressed by mistake, or by speech. Ctrl K stays.', verbose_name='single keys as shortcuts'),
        ),
        migrations.AddField(
            model_name='user',
            name='times',
            field=models.CharField(choices=[('relative', 'How long ago: 3 min ago'), ('absolute', 'Date and time: 2026-11-29 16:21:04')], default='relative', max_length=8, verbose_name='times in lists'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('times__in', ['relative', 'absolute'])), name='accounts_user_times_is_known'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(('hours__in', ['24', '12'])), name='accounts_user_hours_is_known'),
        ),
    ]
