import type { Definitions } from '@call-attribution/questions';
import type { Settings } from '@call-attribution/settings';
import type { Args } from '../../args.ts';
import { UsageError } from '../../errors.ts';
import type { ChosenCalls } from '../../input/chosen-calls.ts';

/**
 * Reads which calls a command is about. Definitions with a mistake are refused with the file. Only
 * commands that have --no-exclude leave calls out: files and copies have all of them.
 */
export async function chosenCalls(args: Args, settings: Settings): Promise<ChosenCalls> {
  const where = args.text('where');
  const definitions = await checkedDefinitions(settings);
  const exclude = settings.file?.exclude ?? null;

  // Rules of conversions exclude by themselves: they say what a tool has already.
  const leavesOut = args.has('no-exclude') && !args.has('rules');
  const isExcluding = exclude !== null && leavesOut && !args.flag('no-exclude');
  return {
    ...(where === null ? {} : { where }),
    ...(Object.keys(definitions).length === 0 ? {} : { definitions }),
    ...(isExcluding ? { exclude } : {}),
  };
}

/** The definitions of the configuration file. Those with a mistake are refused with the file. */
export async function checkedDefinitions({ file }: Settings): Promise<Definitions> {
  const { definitions = {}, exclude = null, path = '' } = file ?? {};
  if (Object.keys(definitions).length === 0 && exclude === null) return definitions;
  const { planCalls, QuestionError } = await import('@call-attribution/questions');
  try {
    planCalls({ definitions, ...(exclude === null ? {} : { exclude }) });
    return definitions;
  } catch (error) {
    if (!(error instanceof QuestionError)) throw error;
    throw new UsageError(`${path}: ${error.message}`);
  }
}

/**
 * What --where means without the definitions of the configuration file, for what is kept: a receipt
 * says which calls a file has, whatever becomes of a definition. Null without it.
 */
export async function spelledWhere(args: Args, { file }: Settings): Promise<string | null> {
  const where = args.text('where');
  if (where === null || file === null || Object.keys(file.definitions).length === 0) return where;
  const { spelledOut } = await import('@call-attribution/questions');
  return spelledOut(where, file.definitions);
}
