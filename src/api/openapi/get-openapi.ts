import type { PublicEndpoint } from '../endpoint';
import { buildDocument } from './document';

const DOCUMENT = JSON.stringify(buildDocument());

/** `GET /openapi.json`: the contract as OpenAPI 3.1. */
export const getOpenapi: PublicEndpoint = () =>
  Promise.resolve({ status: 200, headers: { 'Content-Type': 'application/json; charset=utf-8' }, body: DOCUMENT });
