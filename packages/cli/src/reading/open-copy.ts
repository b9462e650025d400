import type { ChosenCopy } from '../stores/choose-copy.ts';
import { type CopyContext, CopySource } from './copy-source.ts';

/** Opens a copy that exists, to read the calls of some accounts, or of all when none is named. */
export async function openCopySource(
  chosen: ChosenCopy,
  context: CopyContext,
  accounts: readonly string[] = [],
): Promise<CopySource> {
  if (chosen.kind === 'warehouse') {
    const { openWarehouseCopy } = await import('./warehouse-copy.ts');
    return new CopySource(await openWarehouseCopy(chosen, context, accounts), accounts, context);
  }
  const { openRowCopy } = await import('./row-copy.ts');
  return new CopySource(await openRowCopy(chosen, context, accounts), accounts, context);
}
