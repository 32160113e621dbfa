/** The output streams and the environment of a command. */
export interface Terminal {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly environment: NodeJS.ProcessEnv;
}

/** `once`: a long output waits until its beginning is read. */
type Output = Pick<NodeJS.WriteStream, 'write' | 'once'>;
