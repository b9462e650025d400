// The rules of hadolint that apply to docker/Dockerfile, and what docker/compose.yaml needs to keep the container closed.

/** @typedef {{ name: string, value: string }} Instruction */

/** The instructions of a Dockerfile, continued lines joined. @param {string} text @returns {Instruction[]} */
export function instructions(text) {
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, ' ')
    .split('\n');
  return lines.flatMap((line) => {
    const [, name, value] = /^\s*([A-Za-z]+)\s+(.*)$/.exec(line) ?? [];
    return name && value ? [{ name: name.toUpperCase(), value: value.trim() }] : [];
  });
}

/** What is wrong with a Dockerfile, by the codes of hadolint. @param {string} text @returns {string[]} */
export function dockerfileProblems(text) {
  const all = instructions(text);
  /** @type {string[]} */
  const problems = [];
  const of = (/** @type {string} */ name) =>
    all.filter((entry) => entry.name === name).map(({ value }) => value);
  const bad = (/** @type {boolean} */ is, /** @type {string} */ problem) => is && problems.push(problem);
  const stages = of('FROM').map((value) => {
    const [, image = '', alias] = /^(?:--\S+\s+)*(\S+)(?:\s+as\s+(\S+))?$/i.exec(value) ?? [];
    return { image, alias };
  });
  const aliases = stages.flatMap(({ alias }) => (alias ? [alias] : []));
  bad(/hadolint\s+ignore/.test(text), 'DL1001 do not switch rules off');
  for (const { image } of stages) {
    if (aliases.includes(image)) continue;
    bad(!/[:@]/.test(image), `DL3006 ${image} has no version`);
    bad(/:latest$/.test(image), `DL3007 ${image} is a version that moves`);
  }
  bad(new Set(aliases).size < aliases.length, 'DL3024 two stages have the same name');
  for (const value of of('WORKDIR'))
    bad(!/^["']?[/$]/.test(value), `DL3000 WORKDIR ${value} is not absolute`);
  const last = all.slice(all.map(({ name }) => name).lastIndexOf('FROM'));
  const user = last.filter(({ name }) => name === 'USER').at(-1)?.value ?? 'root';
  bad(/^(root|0)(:|$)/.test(user), 'DL3002 the last user must not be root');
  for (const value of of('RUN')) {
    bad(/(^|&&|;)\s*cd\s/.test(value), 'DL3003 use WORKDIR in the place of cd');
    bad(/\bsudo\b/.test(value), 'DL3004 no sudo');
    bad(
      /\bapt-get install\b/.test(value) && !/--no-install-recommends/.test(value),
      'DL3015 --no-install-recommends',
    );
    bad(
      /\bapt-get install\b/.test(value) && !/rm -rf \/var\/lib\/apt\/lists/.test(value),
      'DL3009 delete the lists of apt',
    );
    bad(/\bapt-get install\b/.test(value) && !/-y\b/.test(value), 'DL3014 apt-get install needs -y');
    bad(/\bapt\s+(install|update)/.test(value), 'DL3027 use apt-get in the place of apt');
    const installed =
      /\bapt-get install([^&;|]*)/
        .exec(value)?.[1]
        ?.split(/\s+/)
        .filter((word) => /^\w/.test(word)) ?? [];
    bad(
      installed.some((word) => !word.includes('=')),
      'DL3008 packages of apt need a version',
    );
    const npm =
      /\bnpm (?:install|i)\b([^&;|]*)/
        .exec(value)?.[1]
        ?.split(/\s+/)
        .filter((word) => /^["'@\w]/.test(word)) ?? [];
    bad(
      npm.some((word) => !/.@\S/.test(word.replace(/["']/g, ''))),
      'DL3016 packages of npm need a version',
    );
    bad(
      value.includes('|') && !/\|\|/.test(value) && !of('SHELL').some((shell) => shell.includes('pipefail')),
      'DL4006 set pipefail before a pipe',
    );
    bad(
      /\b(ssh|vim|shutdown|service|ps|free|top|kill|mount)\b/.test(value),
      'DL3001 this command makes no sense in a container',
    );
  }
  for (const value of of('ADD')) bad(!/\.(tar|tgz|gz)|^https?:/.test(value), 'DL3020 use COPY for files');
  for (const value of of('COPY')) {
    const [, from] = /--from=(\S+)/.exec(value) ?? [];
    bad(
      from !== undefined && !aliases.includes(from) && !/[:@]/.test(from),
      `DL3022 COPY --from=${from} names no stage`,
    );
    const words = value.split(/\s+/).filter((word) => !word.startsWith('--'));
    bad(words.length > 2 && !words.at(-1)?.endsWith('/'), 'DL3021 a COPY of several files ends with /');
  }
  for (const name of ['CMD', 'ENTRYPOINT']) {
    for (const value of of(name)) bad(!value.startsWith('['), `DL3025 ${name} needs the form of JSON`);
    bad(
      last.filter((entry) => entry.name === name).length > 1,
      `DL400${name === 'CMD' ? 3 : 4} more than one ${name}`,
    );
  }
  for (const { value } of all.filter(({ name }) => name === 'HEALTHCHECK'))
    bad(!/CMD \[/.test(value), 'DL3025 HEALTHCHECK needs the form of JSON');
  bad(of('HEALTHCHECK').length !== 1, 'DL3057 one HEALTHCHECK is needed');
  bad(of('MAINTAINER').length > 0, 'DL4000 MAINTAINER is deprecated');
  bad(all[0]?.name !== 'FROM' && all[0]?.name !== 'ARG', 'DL3061 the first instruction is FROM or ARG');
  const secret = /\b\w*(SECRET|PASSWORD|TOKEN|ACCESS_KEY)\w*=(?!\/)\S/i;
  for (const { name, value } of all) bad(secret.test(value), `a secret in ${name} stays in the image`);
  return problems;
}

/** What is wrong with a compose file. @param {string} text @returns {string[]} */
export function composeProblems(text) {
  const needed = [
    ['read_only: true', 'the root file system can be written'],
    ['cap_drop: [ALL]', 'the container has capabilities'],
    ['no-new-privileges:true', 'a program can gain rights'],
    ['user: "1000:1000"', 'the container does not run as user 1000'],
    ['tmpfs: [/tmp]', 'there is no /tmp'],
    ['data:/data', 'the warehouse is not on a volume'],
    ['restart: ', 'nothing starts it again'],
  ];
  const missing = needed.flatMap(([line = '', problem = '']) => (text.includes(line) ? [] : [problem]));
  const inClear = /^\s*\w*(KEY|TOKEN|PASSWORD|SECRET):\s*(?!\$\{)\S/m.test(text)
    ? ['a credential is in clear']
    : [];
  return [
    ...missing,
    ...inClear,
    ...(/privileged: true|network_mode: host/.test(text) ? ['it is not closed'] : []),
  ];
}
