// Loads a compose file as Docker Compose does, with the variables of this process and of `.env` beside the file.
// Prints the project as JSON, including the services of all profiles.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	if err := print(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func print(file string) error {
	everyProfile := cli.WithProfiles([]string{"*"})
	options, err := cli.NewProjectOptions([]string{file}, cli.WithOsEnv, cli.WithEnvFiles(), cli.WithDotEnv, everyProfile)
	if err != nil {
		return err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return err
	}
	text, err := project.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}
