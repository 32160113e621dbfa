import { PublishedFiles, UI_FILES, type PublishedFile } from '../ui/published-files';

const DIRECTORY = 'src/web/checkout/files';
const files = new PublishedFiles('/checkout/');

export const STYLE_ADDRESS = files.publish('checkout.css', `${UI_FILES}/tokens.css`, `${DIRECTORY}/checkout.css`);
export const SCRIPT_ADDRESS = files.publish('checkout.js', `${DIRECTORY}/checkout.js`);
export const ICON_ADDRESS = files.publish('icon.svg', `${DIRECTORY}/icon.svg`);

/** A file that the page loads, by the last part of its address. */
export function findCheckoutFile(name: string): PublishedFile | undefined {
  return files.find(name);
}
