// `panto observe` on recorded logs and beside a running machine.
#include <arpa/inet.h>
#include <signal.h>  // NOLINT: kill is POSIX
#include <sys/socket.h>

#include <cmath>
#include <filesystem>

#include "apps/cli/test/program.hpp"

namespace panto::cli {
namespace {

using nlohmann::json;

class ObserveVerb : public Program {
 protected:
  void SetUp() override {
    ASSERT_EQ(
        panto("simulate fourbar_sanjurjo --until 1 --seed 1 --csv run.csv --out run.h5").exit_code,
        0);
  }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_F(ObserveVerb, CsvAndHdf5GiveTheSameEstimatesAsTableJsonAndFiles) {
  const Outcome run = panto("observe fourbar_sanjurjo run.csv --filter ukf --json -o est.csv");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  EXPECT_EQ(j["sensors"]["crank_encoder"]["readings"], 201);
  EXPECT_EQ(j["sensors"]["crank_encoder"]["missing"], 0);
  EXPECT_GT(j["step_us"].get<double>(), 0);
  const double sigma = j["final"]["theta"]["sigma"];
  EXPECT_GT(sigma, 0);
  EXPECT_LT(sigma, 0.02);
  EXPECT_TRUE(j["final"].contains("pin_x"));
  const std::string csv = text_of(path("est.csv"));
  EXPECT_NE(csv.find("theta [rad],theta.sigma [rad],theta_dot [rad/s],theta_dot.sigma [rad/s]"),
            std::string::npos)
      << csv.substr(0, 300);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 203);

  const Outcome other = panto("observe fourbar_sanjurjo run.h5 --filter ukf --json -o est.h5");
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(other.json()["final"], j["final"]);
  EXPECT_TRUE(std::filesystem::exists(path("est.h5")));
  const Outcome table = panto("observe fourbar_sanjurjo run.csv --sensors crank_gyro --gate 0.999");
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("crank_gyro [rad/s]"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("µs per step"), std::string::npos);
}

TEST_F(ObserveVerb, BadInputEndsWithTwoAndWritesNothing) {
  const auto bad = [&](const std::string& arguments, const std::string& id) {
    const Outcome run = panto("observe " + arguments + " -o est.csv --json");
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_NE(run.out.find(id), std::string::npos) << arguments << "\n" << run.out;
    EXPECT_FALSE(std::filesystem::exists(path("est.csv"))) << arguments;
  };
  bad("fourbar_sanjurjo none.csv", "E0621");
  bad("fourbar_sanjurjo run.csv --filter kalman", "E0801");
  bad("fourbar_sanjurjo run.csv --sensors crank_encodr", "E0810");
  bad("fourbar_sanjurjo run.csv --sensors theta", "E0803");
  bad("fourbar_sanjurjo run.csv --outputs pin_z", "E0802");
  put("units.csv", "t,crank_encoder [mm]\n0,1\n0.1,1\n");
  bad("fourbar_sanjurjo units.csv", "E0811");
  put("back.csv", "t,crank_encoder\n0,1\n1,1\n0.5,1\n");
  bad("fourbar_sanjurjo back.csv", "E0812");
  put("empty.csv", "t,crank_encoder\n0,\n1,\n");
  bad("fourbar_sanjurjo empty.csv", "E0815");
  EXPECT_EQ(panto("observe fourbar_sanjurjo").exit_code, 1);
  EXPECT_EQ(panto("observe fourbar_sanjurjo run.csv --live").exit_code, 1);
  EXPECT_EQ(panto("observe fourbar_sanjurjo run.csv --gate 2").exit_code, 1);
  EXPECT_EQ(panto("observe fourbar_sanjurjo run.csv -o est.txt").exit_code, 1);
  EXPECT_EQ(panto("observe fourbar_sanjurjo --live --udp 5000 --bind nowhere").exit_code, 2);
}

TEST_F(ObserveVerb, SettingsComeFromAFileAndTheCommandLineGoesBeforeThem) {
  put("filter.toml", R"toml(
filter = "error_ekf_ej"
acceleration_noise = 0.09
sigma_coordinates = "3 deg"
gate = 5
sensors = ["crank_encoder", { name = "coupler_gyro", sigma = "1 deg", bias_sigma = 0.05 }]
)toml");
  const Outcome run = panto("observe fourbar_sanjurjo run.csv --settings filter.toml --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  json j = run.json();
  EXPECT_EQ(j["filter"], "error_ekf_ej");
  EXPECT_EQ(j["sensors"].size(), 2U);
  EXPECT_LT(j["final"]["bias coupler_gyro"]["sigma"].get<double>(), 0.05);
  // The bias stays with the sensor that the command line names.
  j = panto(
          "observe fourbar_sanjurjo run.csv --settings filter.toml --filter ukf "
          "--sensors coupler_gyro --json")
          .json();
  EXPECT_EQ(j["filter"], "ukf");
  EXPECT_EQ(j["sensors"].size(), 1U);
  EXPECT_TRUE(j["final"].contains("bias coupler_gyro"));
  put("in", "{\"t\": 0, \"coupler_gyro\": 0}\n");
  const std::string command =
      "cd '" + path("") + "' && '" + PANTO_PROGRAM +
      "' observe fourbar_sanjurjo --live --settings filter.toml <in >live.out 2>live.err";
  ASSERT_EQ(std::system(command.c_str()), 0) << text_of(path("live.err"));  // NOLINT: a shell
  EXPECT_TRUE(json::parse(text_of(path("live.out"))).contains("bias coupler_gyro_sigma"));
}

TEST_F(ObserveVerb, MistakesInSettingsAreToldWithTheirPlace) {
  const auto message = [&](const std::string& text) {
    put("filter.toml", text);
    const Outcome run = panto("observe fourbar_sanjurjo run.csv --settings filter.toml");
    EXPECT_EQ(run.exit_code, 2) << text;
    return run.err;
  };
  EXPECT_EQ(message("gatee = 5\nscheme = \"eulr\"\ngate = -2\n"),
            "filter.toml:1:1: error[E0110]: unknown key \"gatee\"; did you mean \"gate\"?\n"
            "filter.toml:2:10: error[E0114]: scheme: \"eulr\" is not one of \"euler\", "
            "\"trapezoidal\", \"rk4\", \"index3\"\n"
            "filter.toml:3:8: error[E0304]: gate: must not be negative\n");
  EXPECT_EQ(message("sensors = [{ nam = \"crank_gyro\" }]\n"),
            "filter.toml:1:12: error[E0111]: sensor: missing key \"name\"\n"
            "filter.toml:1:14: error[E0110]: sensor: unknown key \"nam\"; did you mean "
            "\"name\"?\n");
  EXPECT_EQ(message("sensors = [\"crank_gyro\", \"crank_gyro\"]\n"),
            "filter.toml:1:26: error[E0819]: sensor \"crank_gyro\" is there twice; leave one "
            "out\n");
  EXPECT_NE(message("\nfilter = \"ukff\"\n")
                .find("filter.toml:2:10: error[E0801]: filter \"ukff\" is not known; did you mean"),
            std::string::npos);
  EXPECT_NE(message("acceleration_noise = [1, 2, 3]\n").find("error[E0804]: acceleration noise"),
            std::string::npos);
  EXPECT_EQ(panto("observe fourbar_sanjurjo run.csv --settings none.toml").exit_code, 2);
}

TEST_F(ObserveVerb, NoiseIsTunedAndItsSettingsAreUsedAgain) {
  const Outcome run = panto(
      "observe fourbar_sanjurjo run.csv --tune --tune-sensors --filter error_ekf_ej "
      "--sensors crank_encoder,crank_gyro -o tuned.toml --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json j = run.json();
  EXPECT_GT(j["points"].size(), 30U);
  EXPECT_GT(j["chosen"]["log_likelihood"].get<double>(),
            j["start"]["log_likelihood"].get<double>());
  EXPECT_EQ(j["chosen"]["readings"], 402);
  for (const char* key : {"nis", "autocorrelation", "inside", "ljung_box", "p_value"})
    EXPECT_TRUE(j["chosen"].contains(key)) << key;
  const double sigma = j["sigma"]["crank_encoder"]["value"];
  EXPECT_NEAR(sigma, M_PI / 180, 0.3 * M_PI / 180);
  EXPECT_LT(j["noise"]["theta_dot"]["value"], j["noise"]["theta_dot"]["start"]);
  const Outcome again = panto("observe fourbar_sanjurjo run.csv --settings tuned.toml --json");
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.json()["filter"], "error_ekf_ej");
  EXPECT_NEAR(again.json()["nis"].get<double>(), j["chosen"]["nis"].get<double>(), 1e-9);

  const Outcome table = panto("observe fourbar_sanjurjo run.csv --tune --sensors crank_encoder");
  EXPECT_EQ(table.exit_code, 0) << table.err;
  for (const char* words : {"noise ×", "noise of theta_dot", "Ljung-Box p", "above 0.05: white"})
    EXPECT_NE(table.out.find(words), std::string::npos) << words;
  EXPECT_EQ(panto("observe fourbar_sanjurjo run.csv --tune --filter cekf").exit_code, 2);
  EXPECT_EQ(panto("observe fourbar_sanjurjo run.csv --tune -o tuned.csv").exit_code, 1);
  EXPECT_EQ(panto("observe fourbar_sanjurjo run.csv --tune-sensors").exit_code, 1);
  EXPECT_EQ(panto("observe fourbar_sanjurjo --live --tune").exit_code, 1);
  EXPECT_EQ(panto("observe fourbar_sanjurjo run.csv --tune --restart present").exit_code, 1);
}

TEST_F(ObserveVerb, AdviceRanksSensorsAndNamesWhatTheyHide) {
  const Outcome table = panto("observe fourbar_sanjurjo --advise --filter dekf -o advice.csv");
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("not observable: hides theta (crank angle)"), std::string::npos)
      << table.out;
  const auto rows = lines_of(text_of(path("advice.csv")));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1].substr(0, 17), "1,\"crank_encoder\"");
  const Outcome two = panto(
      "observe fourbar_sanjurjo --advise --largest 2 --candidates crank_gyro,theta=0.01 "
      "--json");
  ASSERT_EQ(two.exit_code, 0) << two.err;
  const json sets = two.json()["sets"];
  ASSERT_EQ(sets.size(), 3U);
  EXPECT_EQ(sets[0]["sensors"].size(), 2U);
  for (const char* key : {"observable", "log10_condition_median", "blind", "share", "seen_least",
                          "deviations", "failure"})
    EXPECT_TRUE(sets[0].contains(key)) << key;
  const auto refused = [&](const std::string& arguments, const char* id) {
    const Outcome run = panto("observe " + arguments + " --advise");
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_NE(run.err.find(id), std::string::npos) << run.err;
  };
  refused("pendulum", "E0832");
  refused("fourbar_sanjurjo --candidates crank_giro", "E0802");
  refused("fourbar_sanjurjo --candidates theta", "E0803");
  refused("fourbar_sanjurjo --filter cekf", "E0805");
  EXPECT_EQ(panto("observe fourbar_sanjurjo run.csv --advise").exit_code, 1);
  EXPECT_EQ(panto("observe fourbar_sanjurjo run.csv --largest 2").exit_code, 1);
}

TEST_F(ObserveVerb, SmoothedEstimatesAreSurer) {
  const auto sigma = [&](const std::string& option) {
    const Outcome run = panto("observe fourbar_sanjurjo run.csv --sensors crank_encoder " + option +
                              " --json -o est.csv");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const std::string row = lines_of(text_of(path("est.csv"))).at(100);
    const size_t first = row.find(','), second = row.find(',', first + 1);
    return std::stod(row.substr(second + 1));
  };
  const double filtered = sigma(""), some = sigma("--smooth-lag 0.02"), all = sigma("--smooth");
  EXPECT_LT(some, filtered);
  EXPECT_LT(all, some);
  const Outcome refused = panto("observe fourbar_sanjurjo run.csv --smooth --filter particle");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("E0805"), std::string::npos) << refused.err;
  EXPECT_EQ(panto("observe fourbar_sanjurjo run.csv --smooth --restart present").exit_code, 1);
  EXPECT_EQ(panto("observe fourbar_sanjurjo --live --smooth").exit_code, 1);
}

TEST_F(ObserveVerb, LiveLinesAreAnsweredAndBadOnesAreNotFatal) {
  std::string input;
  for (int i = 0; i < 100; ++i)
    input += "{\"t\": " + std::to_string(0.005 * i) + ", \"crank_encoder\": 1.047}\n";
  input +=
      "nonsense\n{\"t\": \"x\"}\n{\"t\": 0.5, \"crank_encodr\": 1}\n{\"t\": 1e9, "
      "\"crank_gyro\": 0}\n{\"t\": 0.1, \"crank_gyro\": 0}\n{\"t\": 0.495, \"crank_gyro\": 0}\n"
      "{\"end\": true}\n{\"t\": 0.6, \"crank_gyro\": 0}\n";
  put("in", input);
  const std::string command = "cd '" + path("") + "' && '" + PANTO_PROGRAM +
                              "' observe fourbar_sanjurjo --live <in >live.out 2>live.err";
  ASSERT_EQ(std::system(command.c_str()), 0) << text_of(path("live.err"));  // NOLINT: a shell
  const auto lines = lines_of(text_of(path("live.out")));
  ASSERT_EQ(lines.size(), 106U);
  const json last = json::parse(lines[99]);
  EXPECT_NEAR(last["t"].get<double>(), 0.495, 1e-9);
  for (const char* key : {"theta", "theta_sigma", "theta_dot", "nis", "latency_us"})
    EXPECT_TRUE(last.contains(key)) << key;
  for (size_t i = 100; i < 105; ++i) EXPECT_TRUE(json::parse(lines[i]).contains("error")) << i;
  EXPECT_NE(lines[102].find("did you mean"), std::string::npos);
  EXPECT_TRUE(json::parse(lines[105]).contains("theta"));
  const std::string err = text_of(path("live.err"));
  EXPECT_NE(err.find("101 lines answered, 5 refused; latency"), std::string::npos) << err;
}

TEST_F(ObserveVerb, UdpAnswersTheSender) {
  const int port = 20000 + static_cast<int>(getpid()) % 20000;
  const pid_t child = fork();
  if (child == 0) {
    const std::string number = std::to_string(port);
    if (freopen(path("udp.err").c_str(), "w", stderr) == nullptr) _exit(127);
    execl(PANTO_PROGRAM, PANTO_PROGRAM, "observe", "fourbar_sanjurjo", "--live", "--udp",
          number.c_str(), nullptr);
    _exit(127);
  }
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  timeval wait{0, 200000};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);
  ASSERT_EQ(connect(socket, reinterpret_cast<sockaddr*>(&there), sizeof there), 0);
  const auto ask = [&](const std::string& text) {
    char buffer[4096];
    for (int attempt = 0; attempt < 100; ++attempt) {
      const bool sent = send(socket, text.data(), text.size(), 0) >= 0;
      const ssize_t n = sent ? recv(socket, buffer, sizeof buffer, 0) : -1;
      if (n > 0) return std::string(buffer, static_cast<size_t>(n));
      usleep(50000);  // it is not listening yet
    }
    return std::string("{}");
  };
  EXPECT_TRUE(json::parse(ask("{\"t\": 0, \"crank_encoder\": 1.047}")).contains("theta_sigma"));
  EXPECT_TRUE(json::parse(ask("{\"t\": 0.005, \"crank_encoder\": 1.047}")).contains("theta"));
  EXPECT_TRUE(json::parse(ask("what?")).contains("error"));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  close(socket);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NE(text_of(path("udp.err")).find("latency"), std::string::npos);
}

}  // namespace
}  // namespace panto::cli
