/** The output streams and the environment of a command. */
export interface Terminal {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly environment: NodeJS.ProcessEnv;
}

type Output = Pick<NodeJS.WriteStream, 'write'>;
