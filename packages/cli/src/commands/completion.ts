import { command } from '../command.ts';
import { exitCodes } from '../errors.ts';
import { write } from '../io.ts';

/** `calls completion`: the script that asks `calls complete` what can be typed next. */
export const completion = command({
  name: 'completion',
  summary: 'print the completion script of a shell',
  words: { '<shell>': 'the shell' },
  choices: { shell: ['bash', 'zsh', 'fish'] },
  options: {},
  examples: {
    'source <(calls completion bash)': 'in ~/.bashrc; zsh works the same way',
    'calls completion fish | source': 'in config.fish',
  },
  async run({ words: [shell = ''] }, io) {
    const { scripts } = await import('../completion/scripts.ts');
    await write(io.stdout, scripts[shell] ?? '');
    return exitCodes.ok;
  },
});
