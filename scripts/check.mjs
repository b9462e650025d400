// `pnpm check`: all checks that must hold before a change lands, besides tests and drills. A stage
// that failed is the last one, since those after it need what it checks. Two steps run at a time.
// The output of a step is shown when it fails, and the table of ceilings always.
import { spawn } from 'node:child_process';
import { root } from './workspace.mjs';

/** @type {readonly (readonly (readonly [string, string])[])[]} */
const stages = [
  [
    ['lint', 'pnpm lint'],
    ['types', 'pnpm types'],
    ['generated files', 'node scripts/generate.mjs --check'],
    ['dead code, versions', 'pnpm deps'],
    ['links', 'pnpm links'],
    ['exports', 'node scripts/exports.mjs'],
    ['shape', 'pnpm shape'],
    ['build', 'pnpm build'],
  ],
  [
    ['packages', 'pnpm packages'],
    ['public surfaces', 'pnpm api'],
    ['examples', 'pnpm examples'],
    ['snippets', 'pnpm snippets'],
    ['screens', 'node scripts/screens.mjs --check'],
    ['OpenAPI', 'node scripts/openapi.mjs'],
    ['MCP conformance', 'node scripts/mcp-conformance.mjs'],
  ],
];

/** @param {string} name @param {string} command */
const step = (name, command) =>
  new Promise((resolve) => {
    const started = Date.now();
    const child = spawn(command, {
      cwd: root,
      shell: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', NO_COLOR: '1' },
    });
    let output = '';
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (output += data));
    child.on('exit', (code) => {
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(
        `${code === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(22)} ${seconds.padStart(6)} s`,
      );
      if (code !== 0 || name === 'shape') console.log(output.trimEnd().replace(/^/gm, '       '));
      resolve(code === 0);
    });
  });

const started = Date.now();
let passed = true;
for (const stage of stages) {
  if (!passed) break;
  const queue = [...stage];
  const lane = async () => {
    for (let next = queue.shift(); next; next = queue.shift())
      passed = (await step(...next)) && passed;
  };
  await Promise.all([lane(), lane()]);
}
if (!passed) process.exitCode = 1;
console.log(`check took ${Math.round((Date.now() - started) / 1000)} s`);
