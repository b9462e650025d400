// A server in a process of its own, so that its work is in nobody's figure: two records a request.
import { createServer } from 'node:http';
import { wireCalls } from './wire-calls.mjs';

const body = Buffer.from(JSON.stringify(wireCalls(2, 'v3')));
createServer((_, response) => {
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-range': '1-2/2',
    'content-length': body.length,
  });
  response.end(body);
}).listen(0, '127.0.0.1', function listening() {
  process.send(this.address().port);
});
