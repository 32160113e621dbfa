import QRCode from 'qrcode';

/** Level M corrects 15 % of damage. ISO/IEC 18004 requires a quiet zone of at least four modules. */
const CODE = { errorCorrectionLevel: 'M', margin: 4 } as const;
/** Large enough for a phone's camera at arm's length. */
const PIXELS_PER_MODULE = 8;
/** Greyscale, each row as the difference to the row above (pngjs): half the size, a third of the time. */
const PNG_ENCODING = { colorType: 0, filterType: 2, deflateLevel: 9 };

/** The payload as a PNG. @throws Error if the text does not fit into a QR code; a payload of 512 characters fits */
export function renderQrisPng(payload: string): Promise<Buffer> {
  return QRCode.toBuffer(payload, { ...CODE, type: 'png', scale: PIXELS_PER_MODULE, rendererOpts: PNG_ENCODING });
}

/** The payload as an SVG without a fixed size. @throws like `renderQrisPng` */
export function renderQrisSvg(payload: string): Promise<string> {
  return QRCode.toString(payload, { ...CODE, type: 'svg' });
}
