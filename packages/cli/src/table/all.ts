import type { CommandTable } from '../args/command.ts';
import { convertingCommands, pushGroup } from './converting.ts';
import { fleetCommands, fleetGroup } from './fleet.ts';
import { movingCommands } from './moving.ts';
import { readingCommands } from './reading.ts';
import { runningCommands } from './running.ts';
import { servingCommands } from './serving.ts';
import { storeCommands, storeGroups } from './store.ts';

/** Every command, in the order of the help text. */
export const table: CommandTable = {
  commands: [
    ...readingCommands,
    ...movingCommands,
    ...convertingCommands,
    ...fleetCommands,
    ...servingCommands,
    ...storeCommands,
    ...runningCommands,
  ],
  groups: [pushGroup, fleetGroup, ...storeGroups],
};
