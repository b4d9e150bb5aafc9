package flag

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/internal/option"
)

// The shells' behaviour besides a list of completions: noFiles offers no file names, noSpace
// adds no space either, since more of the word may follow.
const (
	NoFiles = cobra.ShellCompDirectiveNoFileComp
	NoSpace = NoFiles | cobra.ShellCompDirectiveNoSpace
)

// Complete lets the shell complete a flag's value from a list.
func Complete(cmd *cobra.Command, flag string, values []string) {
	CompleteBy(cmd, flag, cobra.FixedCompletions(values, NoFiles))
}

// CompleteBy lets the shell complete a flag's value by a function.
func CompleteBy(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // the flag was defined a line earlier
	}
}

// AfterComma makes each of the values one of a list whose others are in the word
// already: those are not offered again.
func AfterComma(word string, values []cobra.Completion) []cobra.Completion {
	at := strings.LastIndexByte(word, ',') + 1
	present := strings.Split(word[:at], ",")
	var list []cobra.Completion
	for _, v := range values {
		if text, _, _ := strings.Cut(v, "\t"); !slices.Contains(present, text) {
			list = append(list, word[:at]+v)
		}
	}
	return list
}

// CompleteSettings offers NAME=VALUE,… of options. Where a value is not one of a choice,
// it may be a file.
func CompleteSettings(options []option.Option, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	at := strings.LastIndexByte(word, ',') + 1
	name, _, isValue := strings.Cut(word[at:], "=")
	var list []cobra.Completion
	if isValue {
		i := slices.IndexFunc(options, func(o option.Option) bool { return o.Name == name })
		if i < 0 {
			return nil, NoFiles
		}
		words := options[i].Type.Words()
		if len(words) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		for _, w := range words {
			list = append(list, word[:at]+name+"="+w)
		}
		return list, NoSpace
	}
	for _, o := range options {
		if before := "," + word[:at]; !strings.Contains(before, ","+o.Name+"=") {
			list = append(list, cobra.CompletionWithDesc(word[:at]+o.Name+"=", o.Help))
		}
	}
	return list, NoSpace
}

// SettingsCompletion is completeSettings as the completion of a flag.
func SettingsCompletion(options []option.Option) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return CompleteSettings(options, word)
	}
}

// NoValues lets the shell offer nothing for flags.
func NoValues(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		Complete(cmd, name, nil)
	}
}

// CompleteFiles lets the shell complete a flag's value from files.
func CompleteFiles(cmd *cobra.Command, flag string, extensions ...string) {
	if err := cmd.MarkFlagFilename(flag, extensions...); err != nil {
		panic(err) // the flag was defined a line earlier
	}
}
