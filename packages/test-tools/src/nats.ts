import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One or three NATS servers for tests. */
export interface TestNats {
  /** All of its nodes: `nats://127.0.0.1:4222,127.0.0.1:4223`. */
  readonly url: string;
  readonly nodes: readonly TestNatsNode[];
  /** Ends all nodes and removes their data. */
  close(): Promise<void>;
}

/** One of them. It keeps its port when it is started again. */
export interface TestNatsNode {
  /** As NATS names it: `n1`, `n2`, `n3`. */
  readonly name: string;
  readonly url: string;
  /** Its process. */
  readonly pid: number;
  /** Ends it at once with SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again, over the data it had. */
  start(): Promise<void>;
  /** Removes its data. Only while it does not run. */
  removeData(): void;
}

/** How test servers are started. */
export interface TestNatsOptions {
  /** 3 makes a cluster. Default 1. */
  nodes?: 1 | 3;
  /** Lines of a configuration file, such as users. */
  config?: string;
  /** Default true. */
  jetStream?: boolean;
}

const places = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

/**
 * The path of nats-server. Null, with one line that says so, where it is not installed; in CI on Linux that is an error.
 */
export function findNats(): string | null {
  const found = places.map((place) => join(place, 'nats-server')).find(isProgram);
  if (found !== undefined) return found;
  const line = 'NATS tests are left out: nats-server is not installed (Debian: apt-get install nats-server).';
  if (process.env.CI && process.platform === 'linux') throw new Error(line);
  process.stderr.write(`${line}\n`);
  return null;
}

/**
 * Starts NATS servers with JetStream that end with this process. Fails where nats-server is not installed.
 *
 * @example
 * const nats = await startNats({ nodes: 3 });
 * await nats.nodes[0]?.kill();
 * await nats.nodes[0]?.start();
 * await nats.close();
 */
export async function startNats(options: TestNatsOptions = {}): Promise<TestNats> {
  const program = findNats();
  if (program === null)
    throw new Error('This test needs nats-server. On Debian: apt-get install nats-server');
  const { nodes: count = 1 } = options;
  const folder = mkdtempSync(join(tmpdir(), 'calls-nats-'));
  // The ports of a cluster have to be known to all before the first one starts.
  const ports = await freePorts(2 * count);
  const routes = ports.slice(count).map((port) => `nats://127.0.0.1:${port}`);
  const nodes = ports.slice(0, count).map((port, i) => {
    const cluster =
      count === 1
        ? []
        : ['--cluster_name', 'test', '--cluster', `${routes[i]}`, '--routes', routes.join(',')];
    return new Node(program, join(folder, `n${i + 1}`), `n${i + 1}`, port, cluster, options);
  });
  const nats: TestNats = {
    url: nodes
      .map((node) => node.url)
      .join(',')
      .replaceAll(',nats://', ','),
    nodes,
    async close() {
      await Promise.all(nodes.map((node) => node.kill()));
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  try {
    await Promise.all(nodes.map((node) => node.start()));
  } catch (error) {
    await nats.close();
    throw error;
  }
  return nats;
}

// The shell waits for the end of its input, which comes when this process ends in any way, also when it is killed. Then nobody
// needs the data any more.
const script = `folder="$1"; shift; "$@" & echo $!
exec 2> /dev/null; words=$(cat); kill -9 $!; wait $!
[ "$words" = keep ] || { rm -rf "$folder"; rmdir "\${folder%/*}"; }`;

class Node implements TestNatsNode {
  readonly name: string;
  readonly url: string;
  readonly #program: string;
  readonly #folder: string;
  readonly #args: readonly string[];
  #shell: ChildProcess | undefined;
  #complaint = '';
  pid = 0;

  constructor(
    program: string,
    folder: string,
    name: string,
    port: number,
    cluster: readonly string[],
    { config = '', jetStream = true }: TestNatsOptions,
  ) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'nats.conf'), config);
    this.#program = program;
    this.#folder = folder;
    this.name = name;
    this.url = `nats://127.0.0.1:${port}`;
    this.#args = [
      ...['-c', join(folder, 'nats.conf'), '-n', name, '-a', '127.0.0.1', '-p', String(port)],
      ...['-l', join(folder, 'log'), '--ports_file_dir', folder],
      ...(jetStream ? ['-js', '-sd', join(folder, 'data')] : []),
      ...cluster,
    ];
  }

  async start(): Promise<void> {
    if (this.#shell !== undefined) return;
    for (const file of [...this.#portFiles(), 'log']) rmSync(join(this.#folder, file), { force: true });
    const shell = spawn('sh', ['-c', script, 'sh', this.#folder, this.#program, ...this.#args], {
      stdio: 'pipe',
    });
    this.#shell = shell;
    shell.stdout.once('data', (line) => {
      this.pid = Number(line);
    });
    this.#complaint = '';
    shell.stderr.on('data', (text) => {
      this.#complaint += text;
    });
    // Written once it accepts connections.
    while (this.#portFiles().length === 0) {
      const words = this.#complaint + this.#log();
      if (this.#complaint !== '' || /\[FTL\]/.test(words))
        throw new Error(`nats-server did not start:\n${words}`);
      await new Promise((done) => setTimeout(done, 10));
    }
  }

  async kill(): Promise<void> {
    const shell = this.#shell;
    if (shell === undefined) return;
    this.#shell = undefined;
    const ended = once(shell, 'exit');
    shell.stdin?.end('keep\n');
    await ended;
  }

  removeData(): void {
    if (this.#shell !== undefined) throw new Error(`${this.name} still runs`);
    rmSync(join(this.#folder, 'data'), { recursive: true, force: true });
  }

  #portFiles(): string[] {
    return readdirSync(this.#folder).filter((file) => file.endsWith('.ports'));
  }

  #log(): string {
    const path = join(this.#folder, 'log');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }
}

/** Ports that nothing listens on. */
async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = [];
  for (let i = 0; i < count; i += 1) {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
  }
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
