import { isIP } from 'node:net';
import type { Request } from 'express';

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The caller's IP address, as Express finds it behind the proxies of `TRUST_PROXY`; IPv4 in its plain form. */
export function clientAddress(request: Request): string {
  const address = (request.ip ?? '').replace(/%.*$/, '');
  const plain = MAPPED_IPV4.exec(address)?.[1] ?? address;
  return isIP(plain) === 0 ? '0.0.0.0' : plain;
}
