// Every call record once, as a backpressured Node stream: windows, completeness, resume, sync, encoders.
export {};
