"""Texts of allauth that people read here, and that we say otherwise in German: mostly what it says
with *du*.

Named here, they are collected with ours, and our translation comes before that of allauth. The
words must be exactly its own; a test compares them.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop as noop

TEXTS = (
    noop("Please type your current password."),
    noop("Too many failed login attempts. Try again later."),
    noop("Be patient, you are sending too many requests."),
    noop("You must type the same password each time."),
    noop("Your password has been changed."),
    noop("Your password is now changed."),
    noop(
        "You're receiving this email because you or someone else has requested a password reset"
        " for your user account.\nIt can be safely ignored if you did not request a password reset."
        " Click the link below to reset your password."
    ),
    noop(
        "Forgotten your password? Enter your email address below, and we'll send you an email"
        " allowing you to reset it."
    ),
    noop("Please contact us if you have any trouble resetting your password."),
    noop(
        "We have sent you an email. If you have not received it please check your spam folder."
        " Otherwise contact us if you do not receive it in a few minutes."
    ),
    noop(
        "The password reset link was invalid, possibly because it has already been used.  Please"
        ' request a <a href="%(passwd_reset_url)s">new password reset</a>.'
    ),
    noop("Thank you for using %(site_name)s!\n%(site_domain)s"),
    noop("Are you sure you want to sign out?"),
    noop("You have signed out."),
    noop("You are already logged in as %(user_display)s."),
    noop("You are about to generate a new set of recovery codes for your account."),
    noop("Recovery Codes"),
    noop("Added on %(created_at)s"),
    noop("Use your password"),
    noop("Use a security key"),
    noop("Use authenticator app or code"),
    noop("You are about to deactivate authenticator app based authentication. Are you sure?"),
)
