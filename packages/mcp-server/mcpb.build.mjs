// Packs the program and its manifest into one .mcpb file (a zip) that desktop hosts install with a double click. Hosts do not
// install packages, so the program is one file here.
// The same input gives the same bytes: entries in fixed order, with a fixed date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { build } from 'esbuild';

const here = import.meta.dirname;
const out = process.argv[2] ?? join(here, 'call-attribution.mcpb');
const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));

/** @param {string} key */
const given = (key) => `\${user_config.${key}}`;
/** @param {string} title @param {string} description @param {object} [more] */
const field = (title, description, more) => ({
  type: 'string',
  title,
  description,
  required: false,
  ...more,
});

const description = {
  manifest_version: '0.3',
  name: 'call-attribution',
  display_name: 'Call attribution',
  version: manifest.version,
  description: manifest.description,
  author: { name: 'The call-attribution authors' },
  license: manifest.license,
  repository: { type: 'git', url: manifest.repository.url },
  server: {
    type: 'node',
    entry_point: 'server/bin.mjs',
    mcp_config: {
      command: 'node',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the host fills it in.
      args: ['${__dirname}/server/bin.mjs'],
      env: {
        CALLS_BASE_URL: given('base_url'),
        CALLS_ACCESS_KEY: given('access_key'),
        CALLS_SECRET_KEY: given('secret_key'),
        CALLS_LEGACY_BASE_URL: given('legacy_base_url'),
        CALLS_TIME_ZONE: given('time_zone'),
      },
    },
  },
  compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: manifest.engines.node } },
  user_config: {
    base_url: field('URL of the API', 'Without /v3', { required: true }),
    access_key: field('Access key', 'From the key manager of the account', {
      required: true,
      sensitive: true,
    }),
    secret_key: field('Secret key', 'From the key manager of the account', {
      required: true,
      sensitive: true,
    }),
    legacy_base_url: field('URL of the SMS number listing', 'Only for list_sms_numbers'),
    time_zone: field('Time zone', 'Time zone of the times in the account, such as America/New_York'),
  },
};

const program = await build({
  absWorkingDir: here,
  entryPoints: ['src/bin.ts'],
  bundle: true,
  write: false,
  metafile: true,
  minify: true,
  legalComments: 'none',
  platform: 'node',
  target: 'node20',
  format: 'esm',
  conditions: ['@call-attribution/source'],
  // CommonJS packages ask for the modules of Node.js with require.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  // A local copy needs a package with a native library: it is for the package from npm.
  external: ['@call-attribution/warehouse'],
  logLevel: 'warning',
});

const files = [
  ['manifest.json', Buffer.from(`${JSON.stringify(description, null, 2)}\n`)],
  ['server/bin.mjs', Buffer.from(program.outputFiles[0]?.contents ?? [])],
  ['server/THIRD_PARTY_NOTICES.txt', Buffer.from(noticesOf(Object.keys(program.metafile.inputs)))],
];

/**
 * The licenses of the packages whose files are in the program.
 * @param {readonly string[]} inputs
 */
function noticesOf(inputs) {
  const folders = new Set(
    inputs.flatMap((file) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []),
  );
  const notices = [...folders].map((folder) => {
    const dir = join(here, folder);
    const { name, version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    const file = readdirSync(dir).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? '' : readFileSync(join(dir, file), 'utf8').trim();
    return `${name} ${version} (${license})\n\n${text === '' ? `License: ${license}` : text}\n`;
  });
  const line = `\n${'-'.repeat(78)}\n\n`;
  return `The program contains code of these packages.\n${line}${notices.sort().join(line)}`;
}

/** One zip: local headers with data, then the central directory. @param {readonly (readonly [string, Buffer])[]} entries */
function zip(entries) {
  const locals = [];
  const central = [];
  let offset = 0;
  for (const [name, data] of entries) {
    const packed = deflateRawSync(data, { level: 9 });
    const path = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt16LE(8, 4);
    // 1980-01-01, the first date a zip can hold.
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(path.length, 22);
    locals.push(Buffer.from('PK\x03\x04'), common, path, packed);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(0o644 * 0x10000, 6);
    tail.writeUInt32LE(offset, 10);
    central.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, tail, path);
    offset += 30 + path.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

const bundle = zip(/** @type {[string, Buffer][]} */ (files));
writeFileSync(out, bundle);
console.log(`${out}: ${bundle.length} bytes`);
