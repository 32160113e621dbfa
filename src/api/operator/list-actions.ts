import { z } from 'zod';
import { snakeCaseKeys } from '../../lib/snake-case';
import * as audit from '../../services/audit/list-actions';
import type { ApiDependencies } from '../dependencies';
import { operatorEndpoint } from '../endpoint';
import { boundedText } from '../max-length';
import { readQuery } from '../read-query';
import { limitSchema } from './operator-request';

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

/** The audit log, newest first; the next page is `?before=` the last id. */
export const listActions = operatorEndpoint({
  method: 'get',
  path: '/operator/actions',
  scope: 'read',
  async handler({ db }: Pick<ApiDependencies, 'db'>, request) {
    const actions = await audit.listActions(db, readQuery(request, querySchema));
    return { status: 200, body: snakeCaseKeys({ actions }) };
  },
});
