import { ownReturnUrl } from '../../../../src/api/payments/create-payment/payment-request';
import { isAtShop } from '../../../../src/services/merchants/shop-address';

const SHOP = {
  returnUrl: 'https://pay.shop.example/thanks?ref={merchant_reference_id}',
  checkoutOrigins: ['https://shop.example', 'https://shop.example:8443', 'http://localhost:3000'],
};

const LONGEST = `https://shop.example/${'a'.repeat(479)}`;

type Outcome = 'taken' | 'field_invalid' | 'return_url_not_allowed';

function outcomeOf(text: string): Outcome {
  const { success, data } = ownReturnUrl.safeParse(text);
  if (!success || data === null) return 'field_invalid';
  return isAtShop(SHOP, data) ? 'taken' : 'return_url_not_allowed';
}

it.each([
  'https://shop.example',
  'https://shop.example/o/7?s=a%23b',
  'https://SHOP.example/o/7',
  'https://shop.example:443/o/7',
  'https://shop.example:8443/o/7',
  'https://pay.shop.example/another/way',
  'http://localhost:3000/o/7',
  LONGEST,
])('a return URL at a registered address is taken: %s', (text) => {
  expect(outcomeOf(text)).toBe('taken');
});

it.each<[Outcome, string]>([
  ['field_invalid', `${LONGEST}a`],
  ['field_invalid', '//shop.example/'],
  ['field_invalid', '\\\\shop.example/'],
  ['field_invalid', 'shop.example/thanks'],
  ['field_invalid', 'http://shop.example/'],
  ['field_invalid', 'http://127.0.0.1.evil.example/'],
  ['field_invalid', 'ftp://shop.example/'],
  ['field_invalid', 'javascript://shop.example/%0aalert(1)'],
  ['field_invalid', 'data:text/html,shop.example'],
  ['field_invalid', 'blob:https://shop.example/7'],
  ['field_invalid', 'https:'],
  // A browser reads these as relative to the checkout page.
  ['field_invalid', 'https:shop.example/'],
  ['field_invalid', 'https:/shop.example/'],
  ['field_invalid', 'https:\\\\shop.example/'],
  ['field_invalid', 'https://shop.example\\@evil.example/'],
  ['field_invalid', 'https://evil.example\\@shop.example/'],
  ['field_invalid', 'https://user@shop.example/'],
  ['field_invalid', 'https://:secret@shop.example/'],
  ['field_invalid', 'https://shop.example@evil.example/'],
  ['field_invalid', 'https://shop.example#@evil.example/'],
  ['field_invalid', 'https://shop.example/#'],
  ['field_invalid', 'https://shop.example/ '],
  ['field_invalid', 'https://shop.example/\ta'],
  ['field_invalid', 'https://shop.exa\nmple/'],
  ['field_invalid', 'https://shop.example:99999/'],
  ['return_url_not_allowed', 'https://shop.example.evil.example/'],
  ['return_url_not_allowed', 'https://evil-shop.example/'],
  ['return_url_not_allowed', 'https://www.shop.example/'],
  ['return_url_not_allowed', 'https://shop.example./'],
  ['return_url_not_allowed', 'https://shop.example:444/'],
  ['return_url_not_allowed', 'https://pay.shop.example:8443/'],
  ['return_url_not_allowed', 'https://evil.example/https://shop.example'],
  ['return_url_not_allowed', 'https://evil.example?https://shop.example'],
  ['return_url_not_allowed', 'https://shоp.example/'], // the Cyrillic letter
  ['return_url_not_allowed', 'https://localhost:3000/o/7'],
  ['return_url_not_allowed', 'http://localhost:3001/o/7'],
])('attack: a return URL is %s: %j', (outcome, text) => {
  expect(outcomeOf(text)).toBe(outcome);
});
