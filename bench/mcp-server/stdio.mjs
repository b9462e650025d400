// A raw client over stdio, and what the kernel knows about a process.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  },
};

/** CPU milliseconds that a process has used, over all its threads. */
function cpuMs(pid) {
  const ns = (task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + ns(task), 0) / 1e6;
}

/** Resident memory of a process in MB. */
export function rssMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

/** Starts a server, waits for its answer to initialize and gives a way to ask it more. */
export async function connect({ args, env }) {
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });

  const ask = (message) =>
    new Promise((resolve) => {
      waiting.set(message.id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    });

  await ask(initialize);
  const start = { wallMs: performance.now() - started, cpuMs: cpuMs(child.pid) };
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');

  const close = () =>
    new Promise((resolve) => {
      child.once('exit', resolve);
      child.stdin.end();
      setTimeout(() => child.kill(), 2000).unref();
    });

  return { pid: child.pid, start, ask, close };
}
