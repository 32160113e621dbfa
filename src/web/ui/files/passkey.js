// Passkeys. Without this script, or in a browser without passkeys, the buttons for them stay hidden.
'use strict';

if (window.PublicKeyCredential) {
  for (const part of document.querySelectorAll('[data-needs-passkey]')) part.hidden = false;
  for (const part of document.querySelectorAll('[data-no-passkey]')) part.hidden = true;
}

const form = document.querySelector('form[data-passkey]');
if (form) startPasskey(form);

function startPasskey(form) {
  const button = form.querySelector('[data-passkey-start]');
  const failure = form.querySelector('[data-passkey-failed]');
  button.addEventListener('click', () => void ask());
  void ask();

  async function ask() {
    button.hidden = true;
    failure.hidden = true;
    try {
      const { startAuthentication, startRegistration } = window.SimpleWebAuthnBrowser;
      const start = form.dataset.passkey === 'create' ? startRegistration : startAuthentication;
      const response = await start({ optionsJSON: JSON.parse(form.dataset.options) });
      form.elements.response.value = JSON.stringify(response);
      form.submit();
    } catch {
      // The user has cancelled, or has no such passkey, or the browser wants a click first.
      failure.hidden = false;
      button.hidden = false;
      button.focus();
    }
  }
}
