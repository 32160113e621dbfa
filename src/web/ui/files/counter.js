// A lost response, and the app. number-keys.js stands before it; the counter works without this file.
'use strict';

{
  const { form } = amount;
  /** Until then, the same amount is the same payment if its page was never shown. */
  const MAX_AGE_MS = 300_000;
  const STORED = 'lunas counter';

  const read = () => {
    try {
      const sent = JSON.parse(sessionStorage.getItem(STORED));
      return sent && Date.now() - sent.atMs < MAX_AGE_MS ? sent : null;
    } catch {
      return null;
    }
  };
  const store = (sent) => {
    try {
      sessionStorage.setItem(STORED, JSON.stringify(sent));
    } catch {
      // Without a storage, going back makes another payment.
    }
  };

  // The service has responded to the form.
  if (form.dataset.sent !== undefined) store(null);

  /** The page of the QR removes what is stored: as long as it is there, the response was lost. */
  const repeatLost = ({ target, submitter }) => {
    const { form_id: id, provider } = target.elements;
    const rupiah = submitter?.name === 'amount' ? submitter.value : String(digits());
    const what = `${form.action} ${rupiah} ${provider?.value ?? ''}`;
    const lost = read();
    if (lost?.what === what) id.value = lost.id;
    store({ what, id: id.value, atMs: lost?.what === what ? lost.atMs : Date.now() });
  };
  for (const each of document.querySelectorAll('form.usual, form.amount-form')) {
    each.addEventListener('submit', repeatLost);
  }

  // The usual amounts are by the provider that is chosen.
  const usual = document.querySelector('form.usual');
  form.addEventListener('change', () => {
    const chosen = form.elements.provider?.value;
    if (usual && chosen) usual.elements.provider.value = chosen;
  });

  if (!hasFingers) amount.focus();
  const { worker, scope } = form.dataset;
  navigator.serviceWorker?.register(worker, { scope }).catch(() => undefined);
}
