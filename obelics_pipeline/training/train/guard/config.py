"""What the guard calls abnormal, and what it may do about it."""

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from obelics_pipeline.core.config.section import Section


class GuardConfig(Section):
    """Thresholds, waits and budgets of the guard.

    Deviations are robust: units of 1.4826 times the median absolute deviation, of logarithms where the number is
    positive by nature.
    """

    enabled: bool = Field(True, description="false: the guard still records its alarms, and never acts.")

    window: PositiveInt = Field(256, description="Steps that a number's usual spread is taken from.")
    short: PositiveInt = Field(
        24, description="Steps whose median is the level that a jump starts from; short, as the loss falls."
    )
    least: PositiveInt = Field(
        48, description="Steps before a number is judged; until then only a factor of `early_factor` is abnormal."
    )
    early_factor: PositiveFloat = Field(3.0, gt=1, description="See `least`.")

    loss_z: PositiveFloat = Field(10.0, description="Deviations above its level at which a loss has jumped.")
    loss_jump: PositiveFloat = Field(
        0.05, description="Least jump of a loss, as a difference of logarithms (0.05 is 5 %)."
    )
    grad_z: PositiveFloat = Field(12.0, description="Deviations above its level at which a gradient norm is far out.")
    grad_jump: PositiveFloat = Field(
        1.6, description="Least jump of the gradient norm, difference of logarithms (1.6 is a factor of 5)."
    )
    grad_far: PositiveFloat = Field(
        4.6,
        description="Jump of the gradient norm, difference of logarithms (a factor of 100), that is skipped beside a "
        "loss as it was. In healthy runs of benchmarks/guarding.py 150 times the usual was seen.",
    )
    log_z_z: PositiveFloat = Field(10.0, description="Deviations at which the mean log z has jumped, up or down.")
    log_z_jump: PositiveFloat = Field(1.0, description="Least jump of the mean log z, nats.")
    activation_jump: PositiveFloat = Field(
        0.7, description="Least jump of a group's activations between samples, difference of logarithms (factor 2)."
    )
    record: PositiveFloat = Field(
        1.8,
        description="A jump is also this many times the largest in the window: tails of healthy runs are heavy.",
    )
    document_z: PositiveFloat = Field(
        5.0, description="Deviations at which a step's worst document is an alarm (nothing is done for it alone)."
    )
    document_record: PositiveFloat = Field(1.3, description="As `record`, of the worst document.")
    joint: PositiveFloat = Field(
        0.6,
        gt=0,
        le=1,
        description="Share of both thresholds that is enough where loss and gradient norm jump in the same step.",
    )

    drift_recent: PositiveInt = Field(16, description="Steps whose median is the present, in the tests for drift.")
    drift_span: PositiveInt = Field(160, description="Steps before those whose line is what was to be expected.")
    loss_drift: PositiveFloat = Field(
        0.03, description="Rise of a loss over its expected line that is a drift, difference of logarithms."
    )
    loss_far: PositiveFloat = Field(
        0.1, description="The same where it stays for `divergence_steps`: a divergence, whatever else stands still."
    )
    log_z_drift: PositiveFloat = Field(0.5, description="Departure of the mean log z from its line, nats.")
    grad_drift: PositiveFloat = Field(0.35, description="The same of the gradient norm (0.35 is a factor of 1.4).")
    activation_drift: PositiveFloat = Field(0.4, description="The same of a group's activations.")
    drift_z: PositiveFloat = Field(3.5, description="Deviations, besides, that a drift must have.")
    activation_far: PositiveFloat = Field(
        2.3, description="Rise of activations (factor 10) that is a divergence even while the loss stands still."
    )
    drift_record: PositiveFloat = Field(
        1.6, description="A drift is also this many times the farthest that as many steps wandered before."
    )
    divergence_steps: PositiveInt = Field(
        30, description="Steps that loss and activations or gradients must rise together before it is a divergence."
    )
    too_low: PositiveFloat = Field(
        0.25, description="Fall of a loss below its expected line that is too good to be true (escaped text)."
    )
    top1_share: PositiveFloat = Field(
        0.5, le=1, description="Share of places at which one and the same token is predicted that is an alarm."
    )
    clip_share: PositiveFloat = Field(
        0.3, le=1, description="Rise of the share of clipped steps over the run's own that is an alarm."
    )
    lr_off: PositiveFloat = Field(
        1e-6,
        description="Share by which a learning rate may differ from the schedule's, times the recorded factors: both "
        "are the same function of the step, so only rounding may.",
    )
    forget: PositiveInt = Field(40, description="Steps without the sign after which an alarm is over.")

    wait_steps: PositiveInt = Field(100, description="Steps in which a spike may return by itself.")
    returned_steps: PositiveInt = Field(5, description="Steps whose median must be back at the level before a spike.")
    returned_z: PositiveFloat = Field(2.0, description="Deviations above that level which count as back.")

    skip_share: NonNegativeFloat = Field(0.001, le=1, description="Share of steps whose update may be skipped.")
    skip_allowance: NonNegativeInt = Field(3, description="Skipped updates that are free of `skip_share`.")
    skip_in_a_row: PositiveInt = Field(
        3,
        description="Updates in a row that may be skipped. A gradient that is far out for longer comes from the model, "
        "not from a batch: it is rolled back.",
    )

    damage: PositiveFloat = Field(
        0.01,
        description="Rise of the held-out loss over a spike that has returned, difference of logarithms, that is "
        "rolled back all the same: the first evaluation after it, against the worst of the last three before it.",
    )

    broken: PositiveFloat = Field(
        0.1,
        description="Rise of the held-out loss, difference of logarithms, that says while a spike is open that it is "
        "the model and not the batch; nor is a checkpoint gone back to that stands so high.",
    )

    suspect_steps: NonNegativeInt = Field(
        2, description="Steps before the first alarm whose rows are skipped too after a rollback."
    )
    suspect_most: PositiveInt = Field(200, description="Most steps whose rows are skipped (PaLM: 200 to 500).")
    again_steps: PositiveInt = Field(1000, description="Steps within which a further rollback is an escalation.")
    second_factor: PositiveFloat = Field(0.75, le=1, description="Learning rate after a second rollback.")
    third_factor: PositiveFloat = Field(0.5, le=1, description="Learning rate after a third one and each further.")
    lr_floor: PositiveFloat = Field(0.25, le=1, description="The guard's factors together never go below this.")
    most_rollbacks: NonNegativeInt = Field(11, description="Rollbacks in a run; then it stops (IDEFICS-80B: 11).")
    most_lost: PositiveFloat = Field(
        0.15, le=1, description="Share of the planned steps that rollbacks may cost; then the run stops."
    )
    hardware_steps: PositiveInt = Field(
        50, description="Steps around a hardware event within which a spike is laid at its door."
    )
    plateau_steps: PositiveInt = Field(2000, description="Steps without a fall of a data set's loss: an event only.")
