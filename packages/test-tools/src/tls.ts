import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const read = (name: string) =>
  readFileSync(new URL(`../fixtures/localhost-${name}.pem`, import.meta.url), 'utf8');

/** A certificate of `localhost` and 127.0.0.1 that nobody trusts by itself, with its key. */
export const localhostTls = {
  cert: read('cert'),
  key: read('key'),
  /** For `NODE_EXTRA_CA_CERTS`. */
  certFile: fileURLToPath(new URL('../fixtures/localhost-cert.pem', import.meta.url)),
};
