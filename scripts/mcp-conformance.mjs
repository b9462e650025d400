// Holds the MCP server to the protocol with the conformance suite of its makers: all of it on a server
// that has everything the suite asks for, behind our transports, and what any server must pass on
// the real one. Drills ask it with clients that hosts are built on. Needs the built packages.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { node22 } from './nodes.mjs';
import { startSandboxProcess } from './sandbox.mjs';
import { root } from './workspace.mjs';

const tools = join(root, 'packages/mcp-server/conformance');
const bin = join(root, 'packages/mcp-server/dist/bin.js');
const work = mkdtempSync(join(tmpdir(), 'mcp-conformance-'));
/** @type {string[]} */
const problems = [];

/** Scenarios of each revision that need no fixture. */
const anyServer = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'resources-list',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'tools-list',
    'resources-list',
    'sep-2164-resource-not-found',
    'http-header-validation',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
  ],
};

/**
 * What of 2025-11-25 needs a session, which the server does not keep: to ask the client in the
 * middle of a call.
 */
const needSessions = [
  'server-sse-multiple-streams',
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
];

if (!existsSync(join(tools, 'node_modules'))) {
  const args = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--silent'];
  execFileSync('npm', ['install', ...args], {
    cwd: tools,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
const suite = join(tools, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

/**
 * Starts a server that prints its URL, and waits for that.
 * @param {readonly string[]} args
 * @param {'stdout' | 'stderr'} from
 */
async function startServer(args, from, env = {}) {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env } });
  child.stdout.resume();

  /** @type {string} */
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child[from] }).on('line', (line) => {
      const found = /http:\S+\/mcp/.exec(line)?.[0];
      if (found) resolve(found);
    });
    child.once('exit', (code) =>
      reject(new Error(`a server ended with ${code} before it was ready`)),
    );
  });
  return {
    url,
    close: () => new Promise((resolve) => child.once('exit', resolve).kill('SIGTERM')),
  };
}

/** @param {string} command @param {readonly string[]} args @param {Record<string, string>} [env] */
const execute = (command, args, env = {}) =>
  new Promise((resolve) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, timeout: 120_000 });
    let output = '';
    child.stdout.on('data', (part) => (output += part));
    child.stderr.on('data', (part) => (output += part));
    child.once('exit', (status) => resolve({ status, output }));
  });

/** @param {boolean} good @param {string} what @param {string} output */
function report(good, what, output) {
  console.log(`${good ? 'ok    ' : 'FAILED'} ${what}`);
  if (!good) problems.push(`${what}\n${output.slice(-3000)}`);
}

/** Runs the suite. @param {string} what @param {string} url @param {readonly string[]} flags */
async function conform(what, url, flags) {
  const args = [suite, 'server', '--url', url, '-o', join(work, 'results'), ...flags];
  const { status, output } = await execute(node22(), args);
  report(status === 0, what, output);
}

/** Everything the suite asks for, behind our transports. */
async function fixture() {
  const file = join(work, 'everything.mjs');
  await build({
    entryPoints: [join(root, 'packages/mcp-server/test/everything/serve.ts')],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@call-attribution/source'],
    banner: {
      js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
    },
    logLevel: 'error',
  });
  const server = await startServer([file], 'stdout');
  const expected = join(work, 'expected-failures.yml');
  writeFileSync(expected, ['server:', ...needSessions.map((name) => `  - ${name}`), ''].join('\n'));
  for (const revision of Object.keys(anyServer)) {
    const flags = ['--requirements', revision];
    if (revision === '2025-11-25') flags.push('--expected-failures', expected);
    const without =
      revision === '2025-11-25' ? `, ${needSessions.length} that need sessions excepted` : '';
    await conform(`all that ${revision} requires${without}`, server.url, flags);
  }

  await server.close();
}

/** The real server. @param {Record<string, string>} env */
async function real(env) {
  const server = await startServer([bin, '--http', '0'], 'stderr', env);
  for (const [revision, scenarios] of Object.entries(anyServer)) {
    for (const scenario of scenarios) {
      const flags = ['--scenario', scenario, '--spec-version', revision, '--force'];
      await conform(`the server, ${revision}, ${scenario}`, server.url, flags);
    }
  }

  await server.close();
}

const sandbox = await startSandboxProcess();
try {
  // Side by side: most of the time is waiting for processes to start.
  await Promise.all([fixture(), real(sandbox.env)]);
} finally {
  await sandbox.close();
  rmSync(work, { recursive: true });
}
for (const problem of problems) console.error(`\n${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
