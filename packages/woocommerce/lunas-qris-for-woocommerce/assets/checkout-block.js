/** The method in the checkout block: a label and a sentence. The server creates the payment. */
(({ wcBlocksRegistry, wcSettings }, { element, htmlEntities }) => {
  const { title, description, maximum } = wcSettings.getSetting('lunas_qris_data', {});
  const text = (value, otherwise) => htmlEntities.decodeEntities(value || otherwise);
  const label = text(title, 'QRIS');
  const content = element.createElement('div', null, text(description, ''));

  wcBlocksRegistry.registerPaymentMethod({
    name: 'lunas_qris',
    label: element.createElement('span', null, label),
    ariaLabel: label,
    content,
    edit: content,
    supports: { features: ['products'] },
    // The gateway checks the same again.
    canMakePayment: ({ cartTotals }) => {
      const rupiah = Number(cartTotals.total_price) / 10 ** cartTotals.currency_minor_unit;
      return cartTotals.currency_code === 'IDR' && Number.isInteger(rupiah) && rupiah >= 1 && rupiah <= maximum;
    },
  });
})(window.wc, window.wp);
