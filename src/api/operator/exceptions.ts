import { z } from 'zod';
import { listExceptions, resolveException } from '../../operator/exceptions';
import { snakeCaseKeys } from '../../snake-case';
import type { OperatorEndpoint } from '../endpoint';
import { limitSchema, noteSchema, parseActionBody, readQuery, mapErrors, uuidInPath } from './operator-request';

const querySchema = z.object({
  limit: limitSchema,
  all: z.enum(['true', 'false'], { error: 'must be true or false' }).default('false'),
});

/** `GET /operator/exceptions`: the open ones, newest first; with `?all=true` resolved ones too. */
export const listCases: OperatorEndpoint = async ({ db }, request) => {
  const { all, limit } = readQuery(request, querySchema);
  const exceptions = await listExceptions(db, { onlyOpen: all === 'false', limit });
  return { status: 200, body: snakeCaseKeys({ exceptions }) };
};

const resolutionSchema = noteSchema.extend({
  refunded: z.boolean({ error: 'must be true or false' }).default(false),
});

/** `POST /operator/exceptions/:id/resolve` */
export const resolveCase: OperatorEndpoint = async ({ db }, request, { actor }) => {
  const { note, refunded } = parseActionBody(request, resolutionSchema);
  const id = uuidInPath(request);
  const resolution = { note, isRefunded: refunded };
  const exception = await mapErrors('not_found', () => resolveException(db, actor, id, resolution));
  return { status: 200, body: snakeCaseKeys({ exception }) };
};
