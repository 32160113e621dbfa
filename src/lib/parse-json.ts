const BYTE_ORDER_MARK = /^\uFEFF/;

/** The value of a JSON text; undefined if the text is malformed. Some programs write a byte order mark before it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(BYTE_ORDER_MARK, ''));
  } catch {
    return undefined;
  }
}
