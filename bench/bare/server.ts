import { createServer } from 'node:http';
import { Pool } from 'pg';

/**
 * A minimal `GET /payments/:id`: Node's HTTP server, one select by id, the row as JSON. No key, no limit, no log.
 * `GET /nothing` has no select. It measures the generator itself.
 */
const db = new Pool({ connectionString: process.env['DATABASE_URL'], max: 20 });

const server = createServer((request, response) => {
  const id = request.url?.slice('/payments/'.length) ?? '';
  if (request.url === '/nothing') response.end('{}');
  else void findPayment(id).then((body) => response.setHeader('content-type', 'application/json').end(body));
});

async function findPayment(id: string): Promise<string> {
  const { rows } = await db.query<object>({
    name: 'payment',
    text: 'select * from payments where id = $1',
    values: [id],
  });
  return JSON.stringify({ payment: rows[0] });
}

process.once('disconnect', () => process.exit(0));
server.listen(Number(process.env['PORT']), '127.0.0.1', () => process.send?.({ ready: true }));
