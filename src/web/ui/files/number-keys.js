// The keys that write an amount. Forms work without this file.
'use strict';

const amount = document.querySelector('#amount');
const format = (rupiah) => rupiah.toLocaleString('id-ID');
const digits = () => Number(amount.value.replace(/\D/g, ''));

function write(rupiah) {
  amount.value = rupiah > 0 ? format(rupiah) : '';
  amount.dispatchEvent(new Event('input', { bubbles: true }));
}

const keys = document.querySelector('.number-keys');
const hasFingers = matchMedia('(hover: none) and (pointer: coarse)').matches;
keys.hidden = !hasFingers && keys.dataset.everywhere === undefined;
// Our keys take the part of the phone's own.
if (hasFingers) amount.inputMode = 'none';
keys.addEventListener('click', ({ target }) => {
  const key = target.closest('button')?.dataset.key;
  if (key === undefined) return;
  const text = key === 'delete' ? String(digits()).slice(0, -1) : `${digits()}${key}`;
  write(Number(text.slice(0, 8)));
});
