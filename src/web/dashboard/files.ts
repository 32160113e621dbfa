import path from 'node:path';
import { CHECKOUT_CARD_STYLE } from '../checkout/files';
import { AccentStyles } from '../ui/accent-style';
import { PublishedFiles, UI_FILES } from '../ui/published-files';

const ADDRESS = '/assets/';
const files = new PublishedFiles(ADDRESS);

/** What every page loads. */
export const DASHBOARD_FILES = {
  ...files.publishStyle('pages.css', `${UI_FILES}/tokens.css`, `${UI_FILES}/environment.css`, `${UI_FILES}/ui.css`),
  script: files.publish('pages.js', `${UI_FILES}/countdown.js`, `${UI_FILES}/pages.js`),
  icon: files.publish('icon.svg', `${UI_FILES}/icon.svg`),
};

/** The script that shows what needs passkeys. */
const passkey = files.publish('passkey.js', `${UI_FILES}/passkey.js`);
/** The package names only its modules; the file for browsers is beside them. */
const bundle = path.join(path.dirname(require.resolve('@simplewebauthn/browser')), '../dist/bundle/index.umd.min.js');

/** What the pages with passkeys load. */
export const PASSKEY_SCRIPTS = {
  /** A page with a button for a passkey. */
  offer: [passkey],
  /** The page on which the browser asks for the passkey. */
  request: [files.publish('webauthn.js', bundle), passkey],
} as const;

/** What a page with a link to share loads. */
export const SHARE_SCRIPTS = [files.publish('share.js', `${UI_FILES}/share.js`)];

/** What the page of a code that customers scan loads. */
export const QR_FILES = {
  styles: [files.publish('qr.css', `${UI_FILES}/qr.css`, `${UI_FILES}/live-mark.css`, `${UI_FILES}/voice.css`)],
  scripts: [files.publish('qr.js', `${UI_FILES}/live-mark.js`, `${UI_FILES}/voice.js`)],
};

/** What the form of a new payment loads. */
export const NEW_PAYMENT_FILES = {
  styles: [files.publish('new-payment.css', `${UI_FILES}/number-keys.css`, `${UI_FILES}/new-payment.css`)],
  scripts: [files.publish('new-payment.js', `${UI_FILES}/number-keys.js`, `${UI_FILES}/new-payment.js`)],
};

/** What the counter loads: a style sheet and a script of its own, so that other pages stay small. */
export const COUNTER_FILES = {
  styles: [
    files.publish('counter.css', `${UI_FILES}/number-keys.css`, `${UI_FILES}/voice.css`, `${UI_FILES}/counter.css`),
  ],
  scripts: [
    files.publish('counter.js', `${UI_FILES}/number-keys.js`, `${UI_FILES}/voice.js`, `${UI_FILES}/counter.js`),
  ],
};
/** What the page of a QR loads in addition, if the counter has made it. */
export const COUNTER_SHOWN_SCRIPT = files.publish('counter-shown.js', `${UI_FILES}/counter-shown.js`);
/** What the slip loads. */
export const SLIP_STYLES = [files.publish('slip.css', `${UI_FILES}/slip.css`)];
/** What a page loads that is printed on A4. */
export const REPORT_STYLES = [files.publish('report.css', `${UI_FILES}/report.css`)];
export const SHIFT_STYLES = [files.publish('shift.css', `${UI_FILES}/shift.css`), ...REPORT_STYLES];

/** The icons of the app, by their size. */
export const APP_ICONS = {
  small: files.publish('counter-192.png', `${UI_FILES}/counter-192.png`),
  large: files.publish('counter-512.png', `${UI_FILES}/counter-512.png`),
  maskable: files.publish('counter-maskable.png', `${UI_FILES}/counter-maskable.png`),
};

/** What the page of the checkout's look loads. */
export const APPEARANCE_SCRIPTS = [files.publish('accent.js', `${UI_FILES}/accent.js`)];
/** The style sheet of the checkout's own card comes first. */
export const SAMPLE_STYLES = [
  files.publishInside('.sample', 'checkout-card.css', CHECKOUT_CARD_STYLE),
  files.publish('sample.css', `${UI_FILES}/sample.css`),
];
/** The style sheets with the colour of the sample. */
export const SAMPLE_ACCENTS = new AccentStyles(ADDRESS, '.sample');

export const findDashboardFile = (name: string) => files.find(name) ?? SAMPLE_ACCENTS.find(name);
