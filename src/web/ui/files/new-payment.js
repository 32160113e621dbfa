// The last amounts, and what an amount leaves the shop. number-keys.js stands before it; the form works without both.
const PAUSE_MS = 250;
const { provider } = amount.form.elements;
const result = document.querySelector('.amount-result');
const queryOf = () => String(new URLSearchParams({ amount: amount.value, provider: provider?.value ?? '' }));
// A browser that goes back fills in the field, and not its text.
let shown = amount.value === amount.defaultValue ? queryOf() : '';
let timer;

/** The server knows the fee: the page has the text for the amount of its query. */
async function showResult(query) {
  const response = await fetch(`?${query}`);
  const page = new DOMParser().parseFromString(response.ok ? await response.text() : '', 'text/html');
  if (query === shown) result.textContent = page.querySelector('.amount-result')?.textContent ?? '';
}

function show() {
  const query = queryOf();
  if (query === shown) return;
  shown = query;
  result.textContent = '';
  clearTimeout(timer);
  // Without a response there is no text, and the form can be sent.
  timer = setTimeout(() => void showResult(query).catch(() => undefined), PAUSE_MS);
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
