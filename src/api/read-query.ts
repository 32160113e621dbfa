import type { Request } from 'express';
import type { z } from 'zod';
import { ApiError } from '../http/api-error';

/**
 * An ignored filter would list transactions that were not requested (docs/contract.md#list).
 * @throws ApiError `invalid_parameter` that names the parameter and its rule
 */
export function readQuery<Schema extends z.ZodType>({ query }: Request, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(query);
  if (parsed.success) return parsed.data;
  const name = String(parsed.error.issues[0]?.path[0]);
  const message = Array.isArray(query[name]) ? `${name} must be given once.` : describeViolation(parsed.error);
  throw new ApiError('invalid_parameter', message);
}

/** The first violation: the field and its rule. */
export function describeViolation({ issues: [issue] }: z.ZodError): string {
  return `${issue?.path.join('.') ?? 'It'} ${issue?.message ?? 'is not understood'}.`;
}
