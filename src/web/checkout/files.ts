import { AccentStyles } from '../ui/accent-style';
import { PublishedFiles, UI_FILES, type PublishedFile } from '../ui/published-files';

const DIRECTORY = 'src/web/checkout/files';
/** The style sheet of what a sample shows too. */
export const CHECKOUT_CARD_STYLE = `${DIRECTORY}/checkout-card.css`;
const ADDRESS = '/checkout/';
const files = new PublishedFiles(ADDRESS);
const accents = new AccentStyles(ADDRESS, ':root');

/** What every page loads. */
export const CHECKOUT_FILES = {
  ...files.publishStyle(
    'checkout.css',
    `${UI_FILES}/tokens.css`,
    `${UI_FILES}/environment.css`,
    CHECKOUT_CARD_STYLE,
    `${DIRECTORY}/checkout.css`,
    `${UI_FILES}/live-mark.css`,
  ),
  script: files.publish(
    'checkout.js',
    `${UI_FILES}/countdown.js`,
    `${DIRECTORY}/checkout.js`,
    `${UI_FILES}/live-mark.js`,
  ),
  icon: files.publish('icon.svg', `${DIRECTORY}/icon.svg`),
};

/** The style sheet with the colour of a shop. */
export const accentAddress = (accent: string) => accents.address(accent);

export const logoAddress = (hash: string) => `${ADDRESS}logos/${hash}.png`;

/** A file that the page loads, by the last part of its address. */
export function findCheckoutFile(name: string): PublishedFile | undefined {
  return files.find(name) ?? accents.find(name);
}
