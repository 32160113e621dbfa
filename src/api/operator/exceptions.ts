import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { snakeCaseKeys } from '../../lib/snake-case';
import type { Reasons } from '../../services/operations/rejections';
import { requireDone } from '../../services/operations/require-done';
import * as exceptions from '../../services/payments/exceptions';
import { resolveException, resolveExceptionAsRefunded } from '../../services/payments/resolve-exception';
import type { ApiDependencies } from '../dependencies';
import { operatorEndpoint } from '../endpoint';
import { readQuery } from '../read-query';
import { limitSchema, mapErrors, noteSchema, parseActionBody, uuidInPath } from './operator-request';

const querySchema = z.object({
  limit: limitSchema,
  all: z.enum(['true', 'false'], { error: 'must be true or false' }).default('false'),
});

/** Open exceptions, newest first; with `?all=true` resolved ones too. */
export const listExceptions = operatorEndpoint({
  method: 'get',
  path: '/operator/exceptions',
  scope: 'read',
  async handler({ db }: Pick<ApiDependencies, 'db'>, request) {
    const { all, limit } = readQuery(request, querySchema);
    const found = await exceptions.listExceptions(db, { onlyOpen: all === 'false', limit });
    return { status: 200, body: snakeCaseKeys({ exceptions: found }) };
  },
});

const resolutionSchema = noteSchema.extend({
  refunded: z.boolean({ error: 'must be true or false' }).default(false),
});

export const resolveExceptionByOperator = operatorEndpoint({
  method: 'post',
  path: '/operator/exceptions/:id/resolve',
  scope: resolveException.scope,
  readsBody: true,
  async handler({ db, log }: Pick<ApiDependencies, 'db' | 'log'>, request, { actor }) {
    const { note, refunded } = parseActionBody(request, resolutionSchema);
    const operation = refunded ? resolveExceptionAsRefunded : resolveException;
    const call = { path: { exception: uuidInPath(request) }, input: {}, formId: randomUUID(), note };
    const exception = await mapErrors('not_found', async () =>
      requireDone<exceptions.ExceptionRecord, Reasons>(await operation.run({ db, log }, actor, call)),
    );
    return { status: 200, body: snakeCaseKeys({ exception }) };
  },
});
