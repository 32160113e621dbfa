/** What surrounds a command: where it prints, and the environment that it reads. */
export interface Terminal {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly environment: NodeJS.ProcessEnv;
}

type Output = Pick<NodeJS.WriteStream, 'write'>;
