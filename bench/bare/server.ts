import { createServer } from 'node:http';
import { Pool } from 'pg';

/**
 * The least that can answer `GET /payments/:id`: Node's own server, one select by id, the row as JSON. No key, no limit, no
 * log, no contract. `GET /nothing` does not even select: what the generator can do.
 */
const db = new Pool({ connectionString: process.env['DATABASE_URL'], max: 20 });

const server = createServer((request, response) => {
  const id = request.url?.slice('/payments/'.length) ?? '';
  if (request.url === '/nothing') response.end('{}');
  else void answer(id).then((body) => response.setHeader('content-type', 'application/json').end(body));
});

async function answer(id: string): Promise<string> {
  const { rows } = await db.query<object>({
    name: 'payment',
    text: 'select * from payments where id = $1',
    values: [id],
  });
  return JSON.stringify({ payment: rows[0] });
}

process.once('disconnect', () => process.exit(0));
server.listen(Number(process.env['PORT']), '127.0.0.1', () => process.send?.({ ready: true }));
