import { Router } from 'express';
import { z } from 'zod';
import { CRITERIA, type AcquirerShop } from './acquirers';
import { onlyLoopback, parseBody, sendError } from './control-responses';
import type { Shops } from './shops';

const nmid = z.string().regex(/^ID\d{13}$/, 'must be ID and 13 digits');
const printable = (characters: number) =>
  z.string().regex(new RegExp(`^[\\x20-\\x7e]{1,${characters}}$`), `must be 1 to ${characters} printable characters`);
const shopSchema = z.object({
  server_key: z.string().regex(/^SB-Mid-server-[\x21-\x7e]+$/, 'must begin with SB-Mid-server-'),
  nmid,
  name: printable(25),
  city: printable(15),
  criterion: z.enum(CRITERIA),
});
const issuedSchema = z.object({
  issues_nmid: nmid.nullable().default(null),
  issues_name: printable(25).nullable().default(null),
});

/** Controls the shops of the acquirer. Only for clients on the loopback interface. */
export function shopControl(shops: Shops): Router {
  const router = Router();
  router.use('/simulator/shops', onlyLoopback);
  router.get('/simulator/shops', async (_request, response) => {
    response.json({ shops: (await shops.list()).map(show) });
  });
  router.post('/simulator/shops', async (request, response) => {
    const body = parseBody(shopSchema, request, response);
    if (!body) return;
    const { server_key: serverKey, ...shop } = body;
    const registered = await shops.register({ serverKey, ...shop });
    if (registered) response.status(201).json({ shop: show(registered) });
    else sendError(response, 409, 'shop_exists', 'Another shop has this server key or NMID.');
  });
  router.put('/simulator/shops/:nmid', async (request, response) => {
    const body = parseBody(issuedSchema, request, response);
    if (!body) return;
    const issued = { issuesNmid: body.issues_nmid, issuesName: body.issues_name };
    const shop = await shops.setIssued(request.params.nmid, issued);
    if (shop) response.json({ shop: show(shop) });
    else sendError(response, 404, 'not_found', 'This sandbox has no such shop.');
  });
  return router;
}

function show({ serverKey, nmid, name, city, criterion, issuesNmid, issuesName }: AcquirerShop) {
  return { server_key: serverKey, nmid, name, city, criterion, issues_nmid: issuesNmid, issues_name: issuesName };
}
