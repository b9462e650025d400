// Programs from Debian; nginx and Caddy each run in a folder of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';

/** Where Debian has them. */
export const programs = {
  nginx: '/usr/sbin/nginx',
  caddy: '/usr/bin/caddy',
  promtool: '/usr/bin/promtool',
};

/** Whether the program is there; says so when it is not. */
export function hasProgram(name: keyof typeof programs, debianPackage: string): boolean {
  if (existsSync(programs[name])) return true;
  process.stdout.write(`${name} is missing (Debian: ${debianPackage}): its part was left out.\n`);
  return false;
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const free = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  return free;
}

/**
 * Starts nginx with the content of a block `http`, and waits until `isUp`. Returns what stops it.
 */
export async function startNginx(
  place: string,
  http: string,
  isUp: () => Promise<boolean>,
): Promise<() => Promise<void>> {
  mkdirSync(place);
  const config = join(place, 'nginx.conf');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  writeFileSync(
    config,
    `daemon off; master_process off; pid ${place}/pid; error_log ${place}/error.log;
events { worker_connections 4096; }
http {
  access_log off;
  ${paths.map((name) => `${name}_temp_path ${place}/${name};`).join(' ')}
${http}
}
`,
  );
  const from = ['-p', place, '-c', config, '-e', join(place, 'error.log')];
  return started(spawn(programs.nginx, from, { stdio: 'ignore' }), isUp);
}

/** The same for Caddy with a Caddyfile. */
export async function startCaddy(
  place: string,
  caddyfile: string,
  isUp: () => Promise<boolean>,
): Promise<() => Promise<void>> {
  mkdirSync(place);
  const config = join(place, 'Caddyfile');
  writeFileSync(config, caddyfile);
  const env = { ...process.env, HOME: place, XDG_DATA_HOME: place, XDG_CONFIG_HOME: place };
  const from = ['run', '--config', config, '--adapter', 'caddyfile'];
  return started(spawn(programs.caddy, from, { stdio: 'ignore', env }), isUp);
}

async function started(
  child: ChildProcess,
  isUp: () => Promise<boolean>,
): Promise<() => Promise<void>> {
  const ended = once(child, 'exit');
  while (!(await isUp().catch(() => false))) {
    if (child.exitCode !== null) throw new Error(`The proxy ended with status ${child.exitCode}.`);
    await new Promise((done) => setTimeout(done, 20));
  }

  return async () => {
    child.kill('SIGTERM');
    await ended;
  };
}
