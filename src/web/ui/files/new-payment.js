// The last amounts, and what an amount leaves the shop. number-keys.js stands before it; the form works without both.
const { provider } = amount.form.elements;
const result = document.querySelector('[data-terms]');
const terms = JSON.parse(result.dataset.terms);

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

for (const link of document.querySelectorAll('[data-amount]')) {
  link.addEventListener('click', (event) => {
    event.preventDefault();
    write(Number(link.dataset.amount));
    amount.focus();
  });
}
amount.form.addEventListener('input', show);
show();
