import { codeOf } from '../errors';

const BEYOND_THE_END: ReadonlySet<string> = new Set(['ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS']);

/** What the first bytes of an image say, before anything decodes it. */
export interface ImageHeader {
  readonly width: number;
  readonly height: number;
}

/**
 * The size of a complete PNG, JPEG or WebP image; undefined for all other bytes. The name and the type that a browser
 * sends with a file prove nothing.
 */
export function readImageHeader(bytes: Buffer): ImageHeader | undefined {
  try {
    return readPng(bytes) ?? readJpeg(bytes) ?? readWebp(bytes);
  } catch (error) {
    // The image ends before what its header promises.
    if (BEYOND_THE_END.has(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const PNG_END = Buffer.from('\0\0\0\0IEND\xae\x42\x60\x82', 'latin1');

/** Source: https://www.w3.org/TR/png-3/#5DataRep */
function readPng(bytes: Buffer): ImageHeader | undefined {
  if (!startsWith(bytes, PNG_SIGNATURE) || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  return bytes.includes(PNG_END) ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : undefined;
}

const JPEG_SIGNATURE = Buffer.from([0xff, 0xd8, 0xff]);
const JPEG_END = Buffer.from([0xff, 0xd9]);
/** The markers C0 to CF begin a frame, except those of tables. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** Source: ITU-T T.81, B.1 and B.2 */
function readJpeg(bytes: Buffer): ImageHeader | undefined {
  if (!startsWith(bytes, JPEG_SIGNATURE)) return undefined;
  let position = 2;
  while (bytes.readUInt8(position) === 0xff) {
    const marker = bytes.readUInt8(position + 1);
    if (isFrame(marker)) {
      const isComplete = bytes.includes(JPEG_END, position);
      return isComplete
        ? { height: bytes.readUInt16BE(position + 5), width: bytes.readUInt16BE(position + 7) }
        : undefined;
    }
    // A marker may stand behind fill bytes; every other one here has a length.
    position += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(position + 2);
  }
  return undefined;
}

/** Where each kind of WebP has its size. An animation is none of them. */
const WEBP_SIZES: Readonly<Record<string, (bytes: Buffer) => ImageHeader | undefined>> = {
  'VP8 ': (bytes) => ({ width: bytes.readUInt16LE(26) & 0x3f_ff, height: bytes.readUInt16LE(28) & 0x3f_ff }),
  VP8L(bytes) {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3f_ff) + 1, height: ((bits >> 14) & 0x3f_ff) + 1 };
  },
  VP8X(bytes) {
    const isAnimated = (bytes.readUInt8(20) & 0b10) !== 0;
    return isAnimated ? undefined : { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  },
};

/** Source: https://developers.google.com/speed/webp/docs/riff_container */
function readWebp(bytes: Buffer): ImageHeader | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  const isComplete = bytes.length >= bytes.readUInt32LE(4) + 8;
  return isComplete ? WEBP_SIZES[bytes.toString('latin1', 12, 16)]?.(bytes) : undefined;
}

const startsWith = (bytes: Buffer, signature: Buffer) => bytes.subarray(0, signature.length).equals(signature);
