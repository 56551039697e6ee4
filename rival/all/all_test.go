package all_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/progress"
	_ "github.com/graph-condensation/cgc/rival/all"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// baselines lists the methods with parameters that make them fast enough for hundreds of condensations.
var baselines = []struct {
	name, brief string
	claims      []condensetest.Claim // of methods without checkpoints
	unjudged    bool                 // whether a method with checkpoints reads no validation labels
	// longer holds the parameters for TestLearns. nodes is its number of condensed nodes per class.
	longer string
	nodes  int
}{
	{name: "random", claims: []condensetest.Claim{condensetest.Proportional, condensetest.Random}},
	{name: "herding", claims: []condensetest.Claim{condensetest.Proportional}},
	{name: "k-center", claims: []condensetest.Claim{condensetest.Proportional}},
	{name: "vn-classwise", claims: []condensetest.Claim{}},
	{name: "a-cm-classwise", brief: `"pairs_per_level":400`, claims: []condensetest.Claim{}}, // few levels
	{name: "sntk", brief: `"epochs":2,"judge_every":2,"judge_epochs":3`},
	{name: "sntk-x", brief: `"epochs":2,"judge_every":2,"judge_epochs":3,"filter":1,"scale":"add"`},
	{name: "gcgp", brief: `"epochs":2,"judge_every":2,"judge_epochs":3,"filter":2`},
	{name: "gcond", brief: matching + `"pair_hidden":8,` + turns, longer: structured, nodes: 4},
	{name: "gcond-x", brief: matching + `"hidden":8`, longer: gradients, nodes: 4},
	{name: "doscond", brief: matching + `"pair_hidden":8`, longer: structured, nodes: 4},
	// Epoch 1 must change X′ of msgc, because its initial X′ does not depend on the seed.
	{name: "msgc", unjudged: true, nodes: 4,
		brief: `"epochs":2,"outer":2,"inner":1,"hidden":8,"batch":12,"pair_hidden":8,"patterns":3,"window":2,` +
			`"structure_epochs":0,"feature_epochs":0`,
		longer: `"epochs":32,"outer":4,"inner":5,"lr_feat":0.05,"lr_adj":0.01,"start_weight":0.02`},
	{name: "sgdd", brief: matching + `"pair_hidden":8,"sample":20,` + turns, nodes: 4,
		longer: structured + `,"graphon":0.1`},
	{name: "gcdm", brief: means + `"pair_hidden":8,` + turns, nodes: 4,
		longer: `"epochs":64,"lr_feat":0.04,"lr_adj":0.01,"hidden":32,"judge_every":64,"judge_epochs":50,` +
			`"structure_epochs":10,"feature_epochs":20`},
	{name: "gcdm-x", brief: means + `"relay":"sgc"`, nodes: 4,
		longer: `"relay":"gcn","epochs":64,"lr_feat":0.02,"hidden":32,"judge_every":64,"judge_epochs":50`},
	{name: "simgc", nodes: 4,
		brief: `"epochs":2,"teacher_hidden":8,"teacher_epochs":5,"judge_every":2,"judge_epochs":2,"pair_hidden":8,` + turns,
		longer: `"epochs":64,"teacher_hidden":32,"teacher_epochs":200,"lr_teacher":0.01,"lr_feat":0.1,"lr_adj":0.01,` +
			`"start_weight":0.02,"judge_every":64,"judge_epochs":50`},
	{name: "sfgc", brief: trajectories, longer: students + `,"expert_epochs":40`, nodes: 2},
	{name: "geom", brief: trajectories + `,"window":2,"span":4,"teacher_epochs":13`,
		longer: students + `,"expert_epochs":40`, nodes: 2},
	{name: "gcsr", brief: trajectories + `,"expert_epochs":2`, longer: students + `,"lr_expert":0.01`, nodes: 2},
	{name: "bonsai", claims: []condensetest.Claim{condensetest.Proportional}},
	{name: "clustgdd", brief: `"pretrain_epochs":4,"epochs":3,"hidden":8`, claims: []condensetest.Claim{
		condensetest.Proportional, condensetest.Random, condensetest.ReadsValidation,
	}},
	{name: "gecc", brief: `"restarts":1`, claims: []condensetest.Claim{condensetest.Proportional, condensetest.Random}},
	{name: "deepcgc", brief: `"epochs":4,"hidden":8,"warmup":2`,
		claims: []condensetest.Claim{condensetest.Proportional, condensetest.Random}},
}

// Parameters that several baselines share.
const (
	turns        = `"structure_epochs":1,"feature_epochs":1`
	matching     = `"epochs":2,"outer":2,"inner":1,"hidden":8,"batch":12,"judge_every":2,"judge_epochs":2,`
	gradients    = `"epochs":32,"outer":4,"inner":5,"judge_every":16,"judge_epochs":50,"lr_feat":0.05`
	structured   = gradients + `,"lr_adj":0.01,"start_weight":0.02`
	means        = `"epochs":2,"outer":2,"hidden":8,"judge_every":2,"judge_epochs":2,`
	trajectories = `"epochs":3,"steps":4,"hidden":6,"experts":2,"expert_epochs":6,"max_start":4,"interval":2,` +
		`"judge_every":3,"judge_epochs":2`
	students = `"epochs":20,"steps":20,"hidden":16,"lr_feat":0.02,"judge_every":20,"judge_epochs":40`
)

// method returns the named method. Later parameters override earlier ones.
func method(t *testing.T, name string, parameters ...string) condense.Checker {
	t.Helper()
	all := strings.Join(parameters, ",")
	m := mattest.Must(condense.New(name, json.RawMessage("{"+strings.Trim(all, ",")+"}")))
	return m.(condense.Checker)
}

func TestContract(t *testing.T) {
	for i, b := range baselines {
		if i%8 != 2 && !slow.On() {
			continue // one method of each kind
		}
		claims := b.claims
		if claims == nil {
			claims = []condensetest.Claim{condensetest.Proportional, condensetest.Random}
		}
		if b.claims == nil && !b.unjudged {
			claims = append(claims, condensetest.ReadsValidation)
		}
		t.Run(b.name, func(t *testing.T) { condensetest.Test(t, method(t, b.name, b.brief), claims...) })
	}
}

// TestLearns checks that a GCN trained on the condensed demo graph is accurate on the validation nodes, and that
// iterates are validated at powers of two and at multiples of judge_every. The distance to an expert's trajectory must
// fall below its initial value.
func TestLearns(t *testing.T) {
	slow.Test(t, "condenses with every method that learns")
	for _, b := range baselines {
		if b.longer == "" {
			continue
		}
		g, least, looks := synth.Demo(), 75.0, 6 // at epochs 1, 2, 4, 8, 16 and 32
		seed := uint64(1)
		trajectory := b.nodes == 2
		switch {
		case trajectory:
			least, seed = 100/float64(g.Classes)+25, 0
		case strings.Contains(b.longer, gradients):
			least = 80
		default:
			looks = 7
		}
		m := method(t, b.name, b.brief, b.longer)
		if b.unjudged {
			if reached := validation(t, m, g, b.nodes*g.Classes, seed); reached < least {
				t.Errorf("%s: a GCN has the validation accuracy %v, want at least %v", b.name, reached, least)
			}
			continue
		}
		account := learntest.Account(t, m, g, b.nodes*g.Classes, seed)
		if account.Validation < least || trajectory && !(account.Loss < 1) ||
			account.Epoch < 1 || account.Epoch > account.Epochs {
			t.Errorf("%s: %+v, want a validation accuracy of at least %v", b.name, account, least)
		}
		if !trajectory && account.Judgements != looks {
			t.Errorf("%s: %d looks, want %d", b.name, account.Judgements, looks)
		}
	}
}

// validation condenses g with m and returns the validation accuracy of a GCN trained on the result.
func validation(t *testing.T, m condense.Method, g *graph.Graph, nodes int, seed uint64) float64 {
	t.Helper()
	small := mattest.Must(m.Condense(t.Context(), g, nodes, seed))
	config := gnn.Defaults()
	config.Epochs, config.Hidden = 50, 32
	e := experiment.Evaluation{Models: []gnn.Model{gnn.GCN()}, Training: config, Trainings: 1, Seed: seed}
	return mattest.Must(e.Run(t.Context(), small, g))[0].Val[0]
}

// TestContinues checks that a run that is stopped after each epoch gives the same bytes as an uninterrupted run.
func TestContinues(t *testing.T) {
	g := learntest.Begin(t).Graph
	for _, b := range baselines {
		if b.claims != nil {
			continue
		}
		m := method(t, b.name, b.brief)
		want := mattest.Must(saved(t.Context(), t, m, g))
		path := filepath.Join(t.TempDir(), "state")
		stops := 0
		var got []byte
		var err error
		for {
			ctx, cancel := context.WithCancel(rival.WithCheckpoint(t.Context(), path, time.Hour))
			ctx = progress.With(ctx, func(e progress.Event) {
				if e.Stage == m.Name() { // the stage is reported after each epoch
					cancel()
				}
			})
			got, err = saved(ctx, t, m, g)
			cancel()
			if !errors.Is(err, context.Canceled) || stops > 3 {
				break
			}
			stops++
		}
		if err != nil || stops < 2 || !bytes.Equal(got, want) {
			t.Errorf("%s: another condensed graph after %d stops, or %v", b.name, stops, err)
		}
		ctx := rival.WithCheckpoint(t.Context(), path, 0)
		mattest.Fails(t, "belongs to another computation")(m.Condense(ctx, g, 9, 4)) // another seed than the checkpoint's
	}
}

// saved returns the bytes of a condensed graph, with all times set to 0.
func saved(ctx context.Context, t *testing.T, m condense.Method, g *graph.Graph) ([]byte, error) {
	small, err := m.Condense(ctx, g, 9, 3)
	if err != nil {
		return nil, err
	}
	small.Seconds = condense.Seconds{}
	path := filepath.Join(t.TempDir(), "small.safetensors")
	if err := small.Save(t.Context(), path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// TestRefuses checks that an invalid parameter or too small a memory limit is reported before any work, and divergence
// during the work.
func TestRefuses(t *testing.T) {
	demo, g := synth.Demo(), learntest.Begin(t).Graph
	for _, c := range []struct{ name, parameters, says string }{
		{"herding", `"hops":-1`, "hops -1, must be from 0 to 20"},
		{"k-center", `"hops":21`, "hops 21"},
		{"k-center", `"memory":8`, "k-center on 30 training nodes with 6 features needs 2.2 kB, must be at most 8 bytes"},
		{"vn-classwise", `"eigenpairs":0`, "eigenpairs 0, must be from 1 to 100"},
		{"a-cm-classwise", `"pairs_per_level":-2`, "pairs per level -2, must be at least 0"},
		{"sntk-x", `"hops":3`, "hops 3, must be 1 or 2"},
		{"sntk-x", `"layers":0`, "layers 0, must be from 1"},
		{"sntk-x", `"ridge":0`, "ridge 0, must be above 0"},
		{"sntk-x", `"epochs":0`, "epochs 0, must be at least 1"},
		{"sntk-x", `"lr_feat":-1`, "lr feat -1, must be above 0"},
		{"sntk-x", `"judge_every":0`, "judge every 0, must be at least 1"},
		{"sntk-x", `"filter":21`, "filter 21, must be from 0 to 20"},
		{"sntk-x", `"scale":"mean"`, "scale mean, must be average or add"},
		{"sntk", `"degree":-1`, "degree -1, must be at least 0"},
		{"gcgp", `"layers":11`, "layers 11, must be from 1 to 10"},
		{"gcgp", `"filter":-1`, "filter -1, must be from 0 to 20"},
		{"gcgp", `"ridge":-1`, "ridge -1, must be above 0 and at most 1e+06"},
		{"gcond", `"epochs":0`, "epochs 0, must be at least 1"},
		{"gcond", `"relay":"gat"`, "relay gat, must be sgc or gcn"},
		{"gcond", `"lr_feat":0`, "lr feat 0, must be above 0"},
		{"gcond", `"judge_every":0`, "judge every 0, must be at least 1"},
		{"gcond", `"start_weight":0`, "start weight 0, must be above 0 and below 1"},
		{"gcond", `"memory":9000`, "gcond on 81 pairs of condensed nodes needs 10 kB, must be at most 9.0 kB"},
		{"gcond", `"memory":11000`, "gcond on 30 training nodes with "},
		// Memory includes both networks. An invalid number of units is reported as it was given.
		{"sgdd", `"pair_hidden":-3`, "pair hidden -3, must be at least 1"},
		{"sgdd", `"memory":40000`, "sgdd on 81 pairs of condensed nodes needs 41 kB, must be at most 40 kB"},
		{"msgc", `"relay":"gcn"`, "relay gcn, must be sgc"},
		{"sfgc", `"init":"first"`, "init first, must be k-center or random"},
		{"sfgc", `"memory":1024`, "(parameter memory)"},
		{"sfgc", `"hidden":256,"experts":20,"steps":500,"memory":1572864,"disk":1024`, "(parameter disk)"},
		{"gecc", `"hop_weights":[]`, "hop weights [], must be 1 to 21 finite numbers"},
		{"gecc", `"fuzziness":0.9`, "fuzziness 0.9, must be from 1 to 10"},
		{"gecc", `"restarts":0`, "restarts 0, must be at least 1"},
		{"gecc", `"balance":-1`, "balance -1, must be at least 0"},
	} {
		b := method(t, c.name, brief(c.name), c.parameters)
		mattest.Fails(t, c.says)(b.Condense(t.Context(), g, 9, 0))
		mattest.WantError(t, b.Check(g, 9), c.says)
	}
	for _, c := range []struct{ name, parameters, says string }{ // errors that occur only during the work
		{"gcond", `"lr_feat":1e39`, "gcond diverged: "},
		{"sfgc", `"lr_expert":1e30,"expert_epochs":20`, "expert 1 of 2 diverged: its weights are not finite after epoch "},
	} {
		mattest.Fails(t, c.says)(method(t, c.name, brief(c.name), c.parameters).Condense(t.Context(), demo, 10, 1))
	}
}

// brief returns the parameters that make a baseline fast.
func brief(name string) string {
	for _, b := range baselines {
		if b.name == name {
			return b.brief
		}
	}
	panic(name)
}

// TestMemory checks that every method that stores data for each training node has a memory limit, and fails before any
// work if the limit is too small.
func TestMemory(t *testing.T) {
	g := synth.Demo()
	bounded := 0
	for _, name := range condense.Names() {
		m, err := condense.New(name, json.RawMessage(`{"memory":"4kB"}`))
		if err != nil {
			continue // cgc's own methods and random, which have no such parameter
		}
		bounded++
		checker, is := m.(condense.Checker)
		if !is {
			t.Errorf("%s has a bound and no Check", name)
			continue
		}
		mattest.WantError(t, checker.Check(g, 10), name+" on ", "at most 4.0 kB (parameter memory)")
		mattest.Fails(t, name+" on ", "at most 4.0 kB (parameter memory)")(m.Condense(t.Context(), g, 10, 0))
	}
	mattest.Equal(t, bounded, 22, "methods with a memory limit") // every method but random
}

func Example() {
	m, err := condense.New("gcond-x", json.RawMessage(`{"epochs":20,"judge_every":10}`))
	if err != nil {
		panic(err)
	}
	small, err := m.Condense(context.Background(), synth.Demo(), 20, 0)
	if err != nil {
		panic(err)
	}
	fmt.Println(small.Method, small.Nodes(), small.Edges())
	// Output: gcond-x 20 0
}
