/**
 * Why a payload cannot be parsed or serialized. `position` counts characters from the start of the payload; null if the
 * error has no single position.
 */
export interface QrisError {
  readonly code: QrisErrorCode;
  readonly tag: string | null;
  readonly position: number | null;
  readonly message: string;
}

export type QrisErrorCode =
  | 'too_long'
  | 'not_unicode'
  | 'truncated'
  | 'tag_invalid'
  | 'length_invalid'
  | 'tag_repeated'
  | 'tag_missing'
  | 'value_invalid'
  | 'crc_missing'
  | 'crc_mismatch';

export type QrisResult<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: QrisError };

export function success<T>(value: T): QrisResult<T> {
  return { ok: true, value };
}

export function failure(
  code: QrisErrorCode,
  message: string,
  location: { tag?: string; position?: number } = {},
): { ok: false; error: QrisError } {
  return { ok: false, error: { code, message, tag: location.tag ?? null, position: location.position ?? null } };
}

/** The message with its location: `Tag 01 is repeated (tag 62-01, position 42).` */
export function describeQrisError({ message, tag, position }: QrisError): string {
  const location = [...(tag === null ? [] : [`tag ${tag}`]), ...(position === null ? [] : [`position ${position}`])];
  return location.length === 0 ? message : `${message.slice(0, -1)} (${location.join(', ')}).`;
}
