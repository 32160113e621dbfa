const POLYNOMIAL = 0x1021;
const INITIAL_VALUE = 0xffff;

/**
 * CRC-16/CCITT-FALSE over the UTF-8 bytes of `text`, as four upper-case hex digits (EMVCo merchant-presented mode,
 * tag 63).
 * Check value: `crc16('123456789')` is `29B1`.
 */
export function crc16(text: string): string {
  let crc = INITIAL_VALUE;
  for (const byte of Buffer.from(text, 'utf8')) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ POLYNOMIAL;
    }
    crc &= 0xffff;
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}
