import { z } from 'zod';
import { listActions } from '../../operator/audit';
import { snakeCaseKeys } from '../../snake-case';
import { boundedText } from '../max-length';
import type { OperatorEndpoint } from '../endpoint';
import { limitSchema, readQuery } from './operator-request';

const MAX_TARGET_CHARACTERS = 200;

const querySchema = z.object({
  limit: limitSchema,
  target: boundedText(MAX_TARGET_CHARACTERS)
    .refine((text) => !text.includes('\0'), { error: 'must not have a NUL' })
    .optional(),
  before: z
    .string()
    .regex(/^\d{1,15}$/, { error: "must be an action's id" })
    .transform(Number)
    .optional(),
});

/** `GET /operator/actions`: the audit trail, newest first; the next page is `?before=` the last id. */
export const listAudit: OperatorEndpoint = async ({ db }, request) => {
  const actions = await listActions(db, readQuery(request, querySchema));
  return { status: 200, body: snakeCaseKeys({ actions }) };
};
