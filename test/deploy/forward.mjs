// Forwards connections: node forward.mjs '[{"listen": {"port": 1}, "connect": {"path": "/file"}}]'. A file connects two
// network namespaces. Prints one line when it listens everywhere.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

await Promise.all(
  JSON.parse(process.argv[2]).map((forward) => {
    const server = createServer((caller) => {
      const callee = connect(forward.connect);
      caller.pipe(callee).pipe(caller);
      caller.on('error', () => callee.destroy()).on('close', () => callee.destroy());
      callee.on('error', () => caller.destroy()).on('close', () => caller.destroy());
    });
    return once(server.listen(forward.listen), 'listening');
  }),
);
console.log('listening');
