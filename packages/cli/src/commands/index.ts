import type { Command, Group } from '../command.ts';
import { completion } from './completion.ts';
import { count } from './count.ts';
import { demo } from './demo.ts';
import { doctor } from './doctor.ts';
import { exportCalls } from './export.ts';
import { fields } from './fields.ts';
import { fleetGroup, fleetRetry, fleetStatus, fleetWork } from './fleet.ts';
import { get } from './get.ts';
import { init } from './init.ts';
import { list } from './list.ts';
import { mcp } from './mcp.ts';
import { pushCommands, pushGroup } from './push.ts';
import { report } from './report.ts';
import { serve } from './serve.ts';
import { sheet } from './sheet.ts';
import { sms } from './sms.ts';
import { sql } from './sql.ts';
import { storeAccounts, storeErase, storeGroup, storePurge } from './store.ts';
import { sync } from './sync.ts';
import { verify } from './verify.ts';

/** Every command, under the headings of the help. */
export const headings: Readonly<Record<string, readonly Command[]>> = {
  Ask: [list, get, count, report, sql, fields, sms],
  Copy: [exportCalls, sync, verify, storeAccounts, storePurge, storeErase],
  Feed: [sheet, ...pushCommands],
  Serve: [serve, mcp, fleetWork, fleetStatus, fleetRetry],
  Operate: [init, doctor, demo, completion],
};

export const commands: readonly Command[] = Object.values(headings).flat();

/** The first words of several commands. */
export const groups: readonly Group[] = [storeGroup, pushGroup, fleetGroup];
