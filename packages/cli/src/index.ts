// calls: list, export, sync, report and upload call records from the terminal.
export {};
