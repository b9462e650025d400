import type { CommandSpec } from '../args/command.ts';
import { feedingCommands } from './feeding.ts';
import { fleetCommands } from './fleet.ts';
import { movingCommands } from './moving.ts';
import { readingCommands } from './reading.ts';
import { runningCommands } from './running.ts';
import { servingCommands } from './serving.ts';

/** Every command, in the order of the help text. */
export const commands: readonly CommandSpec[] = [
  ...readingCommands,
  ...movingCommands,
  ...feedingCommands,
  ...fleetCommands,
  ...servingCommands,
  ...runningCommands,
];
