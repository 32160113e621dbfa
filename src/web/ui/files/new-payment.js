// The keys of a phone, the last amounts, and what an amount leaves the shop. The form works without this file.
'use strict';

const amount = document.querySelector('#amount');
const { provider } = amount.form.elements;
const result = document.querySelector('[data-terms]');
const terms = JSON.parse(result.dataset.terms);

const format = (rupiah) => rupiah.toLocaleString('id-ID');
const digits = () => Number(amount.value.replace(/\D/g, ''));

/** As the fee in src/domain/fees.ts: of each offer, the last band that begins at most at the amount. */
function feeOf(rupiah, bands) {
  const [, basisPoints, flat, isRoundedUp] = bands.findLast(([from]) => from <= rupiah) ?? bands[0];
  return (isRoundedUp ? Math.ceil : Math.floor)((rupiah * basisPoints) / 10_000) + flat;
}

function show() {
  const offers = terms[provider?.value] ?? Object.values(terms)[0] ?? [];
  const fee = Math.min(...offers.map((bands) => feeOf(digits(), bands)));
  const rupiah = digits() + Number(result.dataset.sign) * fee;
  const isAmount = /^[\d.]+$/.test(amount.value) && rupiah > 0;
  result.textContent = isAmount ? result.dataset.text.replace('{}', `Rp\u00a0${format(rupiah)}`) : '';
}

function write(rupiah) {
  amount.value = rupiah > 0 ? format(rupiah) : '';
  show();
}

const keys = document.querySelector('.number-keys');
if (matchMedia('(hover: none) and (pointer: coarse)').matches) {
  keys.hidden = false;
  // Our keys take the part of the phone's own.
  amount.inputMode = 'none';
}
keys.addEventListener('click', ({ target }) => {
  const key = target.closest('button')?.dataset.key;
  if (key === undefined) return;
  const text = key === 'delete' ? String(digits()).slice(0, -1) : `${digits()}${key}`;
  write(Number(text.slice(0, 8)));
});
for (const link of document.querySelectorAll('[data-amount]')) {
  link.addEventListener('click', (event) => {
    event.preventDefault();
    write(Number(link.dataset.amount));
    amount.focus();
  });
}
amount.form.addEventListener('input', show);
show();
